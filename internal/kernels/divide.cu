// divide: y[i] = x[i] / val[0] for 0 <= i < n.
// Launch: one dimension, any number of blocks and threads; i strides by the grid.
extern "C" __global__ void divide(const float *x, float *y, const float *val, int n)
{
    const float divisor = val[0];
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i] / divisor;
}
