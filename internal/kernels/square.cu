// square: y[i] = x[i] * x[i] for 0 <= i < n.
// Launch: one dimension, any number of blocks and threads; i strides by the grid.
extern "C" __global__ void square(const float *x, float *y, int n)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i] * x[i];
}
