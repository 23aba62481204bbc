// extend: x[i] = min(1, 5 * (x[i] - min[0]) / (max[0] - min[0])) for 0 <= i < n, in place.
// Shapes: x at least n elements; min and max one each.
// Launch: one dimension, any number of blocks and threads.
// When max[0] == min[0] == x[i], 0/0 is NaN and fminf answers 1.
extern "C" __global__ void extend(float *x, const float *min, const float *max, int n)
{
    int step = blockDim.x * gridDim.x;
    float low = min[0];
    float span = max[0] - low;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        x[i] = fminf(1.0f, 5.0f * (x[i] - low) / span);
}
