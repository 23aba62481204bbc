// gemm_thin: c = the product of a, transposed, and b, for a c with few columns.
// c[i][j] = sum of a[l][i] * b[l][j] over 0 <= l < k.
// Shapes: a k x m, b k x n, c m x n, all row-major.
// Launch: blocks of 512 threads, each for 32 elements of a column: x over rows and y over columns of c.
extern "C" __global__ void __launch_bounds__(512) gemm_thin(float *c, const float *a, const float *b, int m, int n, int k)
{
    constexpr int PARTS = 16; // of the sum, a warp for each
    __shared__ float sums[PARTS][32];
    int lane = threadIdx.x % 32, part = threadIdx.x / 32;
    int i = blockIdx.x * 32 + lane, j = blockIdx.y;
    float sum = 0.0f;
    if (i < m)
#pragma unroll 8
        for (int l = part; l < k; l += PARTS)
            sum += a[l * m + i] * b[l * n + j];
    sums[part][lane] = sum;
    __syncthreads();
    if (part > 0 || i >= m)
        return;
    for (int p = 1; p < PARTS; p++)
        sum += sums[p][lane];
    c[i * n + j] = sum;
}
