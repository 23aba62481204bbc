// conv2d: out = x convolved with each of the filters, every stride pixels, negative sums cut to 0.
// out[i][j][m] = max(0, sum of weights[m][di][dj][l] * x[i * stride + di][j * stride + dj][l]
// over 0 <= di, dj < diameter and the channels l), and 0 where that window leaves the image.
// Shapes: x rows x cols x channels, weights filters x diameter x diameter x channels,
// out (rows / stride) x (cols / stride) x filters, all row-major.
// Launch: two dimensions, x over rows and y over columns of out, any number of blocks and threads;
// 4 * filters * diameter^2 * channels bytes of dynamic shared memory hold the weights.
extern "C" __global__ void conv2d(float *out, const float *x, const float *weights, int rows, int cols, int channels,
                                  int diameter, int filters, int stride)
{
    extern __shared__ float staged[];
    int volume = diameter * diameter * channels; // of one filter
    for (int t = threadIdx.y * blockDim.x + threadIdx.x; t < filters * volume; t += blockDim.x * blockDim.y)
        staged[t] = weights[t];
    __syncthreads();

    int high = rows / stride, wide = cols / stride;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < high; i += blockDim.x * gridDim.x) {
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < wide; j += blockDim.y * gridDim.y) {
            int top = i * stride, left = j * stride;
            bool inside = top + diameter <= rows && left + diameter <= cols;
            for (int m = 0; m < filters; m++) {
                float sum = 0.0f;
                if (inside)
                    for (int di = 0; di < diameter; di++)
                        for (int dj = 0; dj < diameter; dj++)
                            for (int l = 0; l < channels; l++)
                                sum += staged[m * volume + (di * diameter + dj) * channels + l] *
                                       x[((top + di) * cols + left + dj) * channels + l];
                out[(i * wide + j) * filters + m] = sum < 0.0f ? 0.0f : sum; // a NaN stays, fmaxf would drop it
            }
        }
    }
}
