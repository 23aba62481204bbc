// Kernels for the interpreter's tests, compiled to kernels.ptx with
//   nvcc -ptx -arch=compute_75 -o kernels.ptx kernels.cu
// (nvcc 11.8). Each has a reference in kernel_test.go.

// Grid-stride map.
extern "C" __global__ void square(const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = x[i] * x[i];
}

// One element per thread, with a tail that is masked off.
extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__device__ float warpSum(float v)
{
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

// Sum of differences: shuffles, then one float atomic per warp.
extern "C" __global__ void reduce(const float *x, const float *y, float *z, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += x[i] - y[i];
    sum = warpSum(sum);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(z, sum);
}

// Convolution with weights staged in dynamic shared memory.
extern "C" __global__ void blur(const float *image, float *result, int rows, int cols, const float *weights, int diameter)
{
    extern __shared__ float w[];
    for (int i = threadIdx.x; i < diameter; i += blockDim.x)
        for (int j = threadIdx.y; j < diameter; j += blockDim.y)
            w[i * diameter + j] = weights[i * diameter + j];
    __syncthreads();
    int radius = diameter / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += blockDim.x * gridDim.x)
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < cols; j += blockDim.y * gridDim.y) {
            float sum = 0;
            for (int x = -radius; x <= radius; ++x)
                for (int y = -radius; y <= radius; ++y) {
                    int nx = x + i, ny = y + j;
                    if (nx >= 0 && ny >= 0 && nx < rows && ny < cols)
                        sum += w[(x + radius) * diameter + y + radius] * image[nx * cols + ny];
                }
            result[i * cols + j] = sum;
        }
}

// Gradient magnitude; one thread fills static shared arrays for its block.
extern "C" __global__ void sobel(const float *image, float *result, int rows, int cols)
{
    __shared__ int gx[3][3], gy[3][3];
    if (threadIdx.x == 0 && threadIdx.y == 0)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                gx[i][j] = (i - 1) * (j == 1 ? 2 : 1);
                gy[i][j] = (j - 1) * (i == 1 ? 2 : 1);
            }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += blockDim.x * gridDim.x)
        for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < cols; j += blockDim.y * gridDim.y) {
            float sx = 0, sy = 0;
            for (int x = -1; x <= 1; ++x)
                for (int y = -1; y <= 1; ++y) {
                    int nx = x + i, ny = y + j;
                    if (nx >= 0 && ny >= 0 && nx < rows && ny < cols) {
                        sx += image[nx * cols + ny] * gx[x + 1][y + 1];
                        sy += image[nx * cols + ny] * gy[x + 1][y + 1];
                    }
                }
            result[i * cols + j] = sqrt(sx * sx + sy * sy);
        }
}

// Maximum through compare-and-swap on the bits of a float.
__device__ void atomicMaxFloat(float *address, float v)
{
    int *bits = (int *)address;
    int old = *bits;
    while (v > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(v));
        if (old == assumed)
            break;
    }
}

extern "C" __global__ void maxk(const float *in, float *out, int n)
{
    float m = -1000;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        m = max(m, in[i]);
    // Every lane tries, so that lanes of one warp contend.
    atomicMaxFloat(out, m);
}

// The double-precision library: out-of-line pow, Payne-Hanek slow path of sin.
extern "C" __global__ void bs(const double *x, double *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        double d1 = log(x[i]) + 0.2;
        y[i] = exp(d1) * normcdf(d1) + pow(x[i], 1.5) + sin(x[i] * 1e6);
    }
}

// The single-precision library.
extern "C" __global__ void expk(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = expf(x[i]) + logf(x[i] + 1) + sinf(x[i]) * tanhf(x[i]) + powf(x[i], 1.3f);
}

// The classic spin lock, which deadlocks where lanes that hold the lock wait
// for lanes that spin. The counter is not atomic, so a broken lock loses counts.
__device__ int lock, counter;

extern "C" __global__ void spinlock(int *seen)
{
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    int v = *(volatile int *)&counter;
    *(volatile int *)&counter = v + 1;
    __threadfence();
    atomicExch(&lock, 0);
    __syncthreads();
    if (threadIdx.x == 0)
        seen[blockIdx.x] = *(volatile int *)&counter;
}
