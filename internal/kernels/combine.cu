// combine: res[i] = x[i] * mask[i] + y[i] * (1 - mask[i]) for 0 <= i < n: x where the
// mask is 1, y where it is 0.
// Launch: one dimension, any number of blocks and threads.
extern "C" __global__ void combine(const float *x, const float *y, const float *mask, float *res, int n)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        res[i] = x[i] * mask[i] + y[i] * (1.0f - mask[i]);
}
