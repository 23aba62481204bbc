// gemm_plain: c[z] = the product of a, transposed, and b, over their rows z * depth to (z + 1) * depth.
// c[z][i][j] = sum of a[l][i] * b[l][j] over z * depth <= l < min(k, (z + 1) * depth).
// Shapes: a k x m, b k x n, c as many m x n as the grid is deep, all row-major.
// Launch: blocks of 1024 threads, each for 128 x 64 elements: x over columns and y over rows of c, z over its matrices.
//
// It is the tiled product of textbooks: the largest block, 32 x 32 threads with 4 x 2 neighbouring elements each, so that
// 32 warps hide latencies, and operands that are read one by one. Each thread reads 6 words of shared memory for 8
// products. The columns of neighbouring threads are two words apart, so two lanes share a bank. Shared memory
// bounds the kernel: it takes twice as long as gemm_128x64.
extern "C" __global__ void __launch_bounds__(1024) gemm_plain(float *c, const float *a, const float *b, int m, int n, int k, int depth)
{
    constexpr int ROWS = 128, COLS = 64, DEPTH = 16, DOWN = 4, ACROSS = 2, THREADS = 1024;
    constexpr int A_STEP = THREADS / ROWS, A_COUNT = DEPTH / A_STEP; // rows that all threads read at once
    __shared__ float as[DEPTH][ROWS], bs[DEPTH][COLS];
    int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    int begin = blockIdx.z * depth, end = min(k, begin + depth);
    int a_row = t / ROWS, a_col = t % ROWS, b_row = t / COLS, b_col = t % COLS;
    int i0 = t / 32 * DOWN, j0 = t % 32 * ACROSS;
    // Elements outside of the matrices are read from inside; their products have a factor of 0 or are not stored.
    const float *a_next = a + min(top + a_col, m - 1), *b_next = b + min(left + b_col, n - 1);
    float sum[DOWN][ACROSS] = {};
    for (int first = begin; first < end; first += DEPTH) {
        float fa[A_COUNT];
#pragma unroll
        for (int i = 0; i < A_COUNT; i++) {
            int row = first + a_row + i * A_STEP;
            float v = a_next[min(row, end - 1) * m];
            fa[i] = row < end ? v : 0.0f;
        }
        float fb = b_next[min(first + b_row, end - 1) * n];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < A_COUNT; i++)
            as[a_row + i * A_STEP][a_col] = fa[i];
        bs[b_row][b_col] = fb;
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++)
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    sum[i][j] += as[l][i0 + i] * bs[l][j0 + j];
    }
    int rows = m - top - i0, cols = n - left - j0; // from this thread's patch on
    float *patch = c + (blockIdx.z * m + top + i0) * n + left + j0;
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            if (i < rows && j < cols)
                patch[i * n + j] = sum[i][j];
}
