// mean_pooling: out[i][j][l] = mean of x[i * stride + di][j * stride + dj][l] over
// 0 <= di, dj < diameter, and 0 where that window leaves the image.
// Shapes: x rows x cols x channels, out (rows / stride) x (cols / stride) x channels, row-major.
// Launch: three dimensions, x over rows, y over columns and z over channels, any number of blocks
// and threads.
extern "C" __global__ void mean_pooling(float *out, const float *x, int rows, int cols, int channels, int diameter,
                                        int stride)
{
    int high = rows / stride, wide = cols / stride;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < high; i += blockDim.x * gridDim.x) {
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < wide; j += blockDim.y * gridDim.y) {
            int top = i * stride, left = j * stride;
            bool inside = top + diameter <= rows && left + diameter <= cols;
            for (int l = blockIdx.z * blockDim.z + threadIdx.z; l < channels; l += blockDim.z * gridDim.z) {
                float sum = 0.0f;
                if (inside)
                    for (int di = 0; di < diameter; di++)
                        for (int dj = 0; dj < diameter; dj++)
                            sum += x[((top + di) * cols + left + dj) * channels + l];
                out[(i * wide + j) * channels + l] = sum / (diameter * diameter);
            }
        }
    }
}
