// Kernels whose speed on a GPU is known: each is bound by one thing.

extern "C" __global__ void empty() {}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// strided reads one word of every sector.
extern "C" __global__ void strided(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[8 * i];
}

// chase follows a chain of indices: one round trip to memory after another.
extern "C" __global__ void chase(int steps, const int *next, int *out)
{
    int at = threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = next[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// fma runs four chains of multiply-adds per thread.
template <typename T> __device__ void fma_chains(int steps, T a, T *out)
{
    T w = a, x = a + 1, y = a + 2, z = a + 3;
    for (int i = 0; i < steps; i++) {
        w = w * a + x;
        x = x * a + y;
        y = y * a + z;
        z = z * a + a;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = w + x + y + z;
}

extern "C" __global__ void fma32(int steps, float a, float *out) { fma_chains(steps, a, out); }
extern "C" __global__ void fma64(int steps, double a, double *out) { fma_chains(steps, a, out); }

const int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose_plain(int n, const float *in, float *out)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + y + j] = in[(y + j) * n + x];
}

template <int PAD> __device__ void transpose(int n, const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_conflicts(int n, const float *in, float *out) { transpose<0>(n, in, out); }
extern "C" __global__ void transpose_padded(int n, const float *in, float *out) { transpose<1>(n, in, out); }

extern "C" __global__ void sgemm_plain(int n, const float *a, const float *b, float *c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

extern "C" __global__ void sgemm_tiled(int n, const float *a, const float *b, float *c)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < TILE; j++)
            sum += as[threadIdx.y][j] * bs[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// count adds one to a bin: with one bin, all adds wait for each other.
extern "C" __global__ void count(int n, int bins, unsigned *histogram)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&histogram[(i / 32 * 97 + i % 32) % bins], 1u);
}

// texels samples a small texture between its texels, 32 times a thread.
extern "C" __global__ void texels(cudaTextureObject_t t, float *out)
{
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += tex2D<float>(t, threadIdx.x + 0.25f, i + 0.75f);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void gather(int n, const int *index, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}
