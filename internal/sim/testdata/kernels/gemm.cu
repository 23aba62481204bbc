// Matrix products C = alpha A B + beta C of row-major matrices of any size.
// build sm60: -arch=compute_60
// build sm90: -arch=compute_90
// build fast: -arch=compute_75 -use_fast_math

// One element per thread, tiles of both operands staged in shared memory.
template <typename T, int TILE>
__device__ void tiled(int m, int n, int k, T alpha, const T *__restrict__ a, const T *__restrict__ b, T beta, T *__restrict__ c)
{
    __shared__ T as[TILE][TILE], bs[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < k; t += TILE) {
        const int ak = t + threadIdx.x, bk = t + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && ak < k ? a[row * k + ak] : T(0);
        bs[threadIdx.y][threadIdx.x] = bk < k && col < n ? b[bk * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = alpha * sum + (beta == T(0) ? T(0) : beta * c[row * n + col]);
}

extern "C" __global__ void sgemm(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    tiled<float, 16>(m, n, k, alpha, a, b, beta, c);
}

extern "C" __global__ void dgemm(int m, int n, int k, double alpha, const double *a, const double *b, double beta, double *c)
{
    tiled<double, 16>(m, n, k, alpha, a, b, beta, c);
}

// A tile of 64 by 64 per block of 256 threads, a 4 by 4 patch in registers per thread, float4
// loads, and the next tile fetched while this one is multiplied. m, n and k are multiples
// of 64, 64 and 16.
extern "C" __global__ void __launch_bounds__(256, 2)
sgemm_registers(int m, int n, int k, float alpha, const float4 *__restrict__ a, const float4 *__restrict__ b, float beta, float4 *__restrict__ c)
{
    constexpr int M = 64, N = 64, K = 16;
    __shared__ __align__(16) float as[2][K][M];
    __shared__ __align__(16) float bs[2][K][N];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int ar = t / 4, ac = t % 4;   // this thread's float4 of the tile of A
    const int br = t / 16, bc = t % 16; // and of B
    const float4 *pa = a + (blockIdx.y * M + ar) * (k / 4) + ac;
    const float4 *pb = b + br * (n / 4) + blockIdx.x * (N / 4) + bc;

    float4 fa = __ldg(pa), fb = __ldg(pb);
    float acc[4][4] = {};
    int stage = 0;
    for (int k0 = 0; k0 < k; k0 += K, stage ^= 1) {
        as[stage][ac * 4 + 0][ar] = fa.x;
        as[stage][ac * 4 + 1][ar] = fa.y;
        as[stage][ac * 4 + 2][ar] = fa.z;
        as[stage][ac * 4 + 3][ar] = fa.w;
        *reinterpret_cast<float4 *>(&bs[stage][br][bc * 4]) = fb;
        __syncthreads();
        if (k0 + K < k) {
            pa += K / 4;
            pb += K * (n / 4);
            fa = __ldg(pa);
            fb = __ldg(pb);
        }
#pragma unroll
        for (int i = 0; i < K; ++i) {
            const float4 x = *reinterpret_cast<const float4 *>(&as[stage][i][ty * 4]);
            const float4 y = *reinterpret_cast<const float4 *>(&bs[stage][i][tx * 4]);
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s)
                    acc[r][s] = fmaf(xs[r], ys[s], acc[r][s]);
        }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        float4 *p = c + (blockIdx.y * M + ty * 4 + r) * (n / 4) + blockIdx.x * (N / 4) + tx;
        float4 v = *p;
        v.x = alpha * acc[r][0] + beta * v.x;
        v.y = alpha * acc[r][1] + beta * v.y;
        v.z = alpha * acc[r][2] + beta * v.z;
        v.w = alpha * acc[r][3] + beta * v.w;
        *p = v;
    }
}
