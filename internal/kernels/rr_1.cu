// rr_1: z = x with each feature brought to mean 0 and deviation 1: z[i][j] = (x[i][j] - mean of
// column j) / deviation of column j, and 0 in a column that is constant.
// Shapes: x and z n x features, row-major; n * n * max(x)^2 below 2^63.
// Launch: one dimension, any number of blocks and threads; a thread takes whole columns,
// so no more than features of them have work.
extern "C" __global__ void rr_1(const int *x, float *z, int n, int features)
{
    int step = blockDim.x * gridDim.x;
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < features; j += step) {
        // Whole numbers: sums of floats go astray past 2^24, which a million rows reach.
        long long sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            int v = x[i * features + j];
            sum += v;
            squares += (long long)v * v;
        }
        float mean = (float)sum / n;
        float deviation = sqrtf((float)(n * squares - sum * sum)) / n;
        float scale = deviation > 0.0f ? 1.0f / deviation : 0.0f;
        for (int i = 0; i < n; i++)
            z[i * features + j] = (x[i * features + j] - mean) * scale;
    }
}
