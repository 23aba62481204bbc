// unsharpen: res[i] = x[i] * (1 + amount) - y[i] * amount, clamped to [0, 1], for
// 0 <= i < n: x sharpened against y, its blurred copy.
// Launch: one dimension, any number of blocks and threads.
extern "C" __global__ void unsharpen(const float *x, const float *y, float *res, float amount, int n)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float sharp = x[i] * (1.0f + amount) - y[i] * amount;
        res[i] = fminf(1.0f, fmaxf(0.0f, sharp));
    }
}
