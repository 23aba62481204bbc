// smooth: v = the mean of the four neighbours of u, on an n x n plate whose border stays.
// Launch: n / 8 x n / 8 blocks of 8 x 8 threads, a thread for each element.
extern "C" __global__ void smooth(const float *u, float *v, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    v[y * n + x] = 0.25f * (u[(y - 1) * n + x] + u[(y + 1) * n + x] + u[y * n + x - 1] + u[y * n + x + 1]);
}

// largest: change = max(change, |u - v|). Floats that are not negative are ordered like their bits.
extern "C" __global__ void largest(const float *u, const float *v, int *change, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        atomicMax(change, __float_as_int(fabsf(u[y * n + x] - v[y * n + x])));
}
