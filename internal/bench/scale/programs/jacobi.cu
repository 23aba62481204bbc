// jacobi: Jacobi's method for Laplace's equation on a square with fixed borders.
// Launch: blocks of 64 x 4 threads, a thread for each element: x over columns and y over rows; fold one such block.

// mean is the mean of the four neighbours of element i.
static __device__ float mean(const float *u, int i, int cols) { return 0.25f * (u[i - 1] + u[i + 1] + u[i - cols] + u[i + cols]); }

// block_sum adds up one value of each thread of a block of 256. Thread 0 has the sum. The order of the additions is fixed.
template <class T> static __device__ T block_sum(T v)
{
    __shared__ T part[8];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    if (t > 0)
        return v;
    for (int w = 1; w < 8; w++)
        v += part[w];
    return v;
}

// jacobi_step: next = the mean of the four neighbours in u, for rows first <= y < last and all columns but the first and the
// last one. Row-major.
extern "C" __global__ void __launch_bounds__(256) jacobi_step(float *next, const float *u, int first, int last, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= cols - 1 || y >= last)
        return;
    int i = y * cols + x;
    next[i] = mean(u, i, cols);
}

// jacobi_norm: the same, and partial[b] = the sum of (next - u)^2 over the elements of block b, row by row of blocks.
extern "C" __global__ void __launch_bounds__(256) jacobi_norm(float *next, const float *u, float *partial, int first, int last,
                                                              int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
    float square = 0;
    if (x >= 1 && x < cols - 1 && y < last) {
        int i = y * cols + x;
        float v = mean(u, i, cols), change = v - u[i];
        next[i] = v;
        square = change * change;
    }
    square = block_sum(square);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        partial[blockIdx.y * gridDim.x + blockIdx.x] = square;
}

// jacobi_fold: *norm = the sum of partial[i] for 0 <= i < blocks. Its one block adds them up in double.
extern "C" __global__ void __launch_bounds__(256) jacobi_fold(double *norm, const float *partial, int blocks)
{
    double sum = 0;
#pragma unroll 1
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < blocks; i += 256)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        *norm = sum;
}
