// reduce: z[0] += sum of x[i] - y[i] for 0 <= i < n.
// Launch: one dimension, whole warps (threads a multiple of 32, since the shuffles
// name all 32 lanes). Each warp adds one partial sum, so the order of the additions,
// and with it the last bits of z[0], differ from run to run on a GPU.
extern "C" __global__ void reduce(const float *x, const float *y, float *z, int n)
{
    int step = blockDim.x * gridDim.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += x[i] - y[i];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0)
        atomicAdd(z, sum);
}
