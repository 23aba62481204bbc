// gaussian_blur: result = image convolved with a diameter x diameter filter.
// result[i][j] = sum of filter[di + r][dj + r] * image[i + di][j + dj] over
// -r <= di, dj <= r with r = diameter / 2; pixels outside the image count as 0.
// Shapes: image and result rows x cols, filter diameter x diameter, all row-major.
// Launch: two dimensions, x over rows and y over columns, any number of blocks and
// threads; 4 * diameter^2 bytes of dynamic shared memory hold the filter.
extern "C" __global__ void gaussian_blur(const float *image, float *result, int rows, int cols,
                                         const float *filter, int diameter)
{
    extern __shared__ float weights[];
    // A block may have fewer threads than the filter has weights.
    for (int t = threadIdx.y * blockDim.x + threadIdx.x; t < diameter * diameter; t += blockDim.x * blockDim.y)
        weights[t] = filter[t];
    __syncthreads();

    int r = diameter / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += blockDim.x * gridDim.x) {
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < cols; j += blockDim.y * gridDim.y) {
            float sum = 0.0f;
            for (int di = -r; di <= r; di++) {
                for (int dj = -r; dj <= r; dj++) {
                    int y = i + di, x = j + dj;
                    if (y >= 0 && y < rows && x >= 0 && x < cols)
                        sum += weights[(di + r) * diameter + dj + r] * image[y * cols + x];
                }
            }
            result[i * cols + j] = sum;
        }
    }
}
