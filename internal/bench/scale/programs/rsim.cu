// rsim: radiosity with the time that light takes from triangle to triangle.
// Launch: blocks of 32 x 8 threads, a warp for each triangle.

// rsim_step: row t of rad, which has a row for each step and an element for each of n triangles.
// rad[t][i] = emission[i] + the sum over j of kij[i][j] * rad[t - delay[i][j]][j], of the rows that exist. A delay is at
// least 1. The minimum repeats this: the delays are data, and only code shows which rows a step reads.
extern "C" __global__ void __launch_bounds__(256) rsim_step(float *rad, const float *kij, const int *delay, const float *emission,
                                                            int t, int n)
{
    int i = blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= n)
        return; // a whole warp
    float sum = 0;
#pragma unroll 1
    for (int j = threadIdx.x; j < n; j += 32) {
        int row = min(t - delay[i * n + j], t - 1);
        if (row >= 0)
            sum += kij[i * n + j] * rad[row * n + j];
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0)
        rad[t * n + i] = emission[i] + sum;
}
