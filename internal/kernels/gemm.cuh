// The product of matrices that gemm_128x64 and gemm_64x64 compute, each with its tile.
#pragma once

// One thread computes 4 x 4 elements of c. A block computes ROWS x COLS elements: it stages DEPTH rows of a and of b
// in shared memory and fetches the next DEPTH rows into registers while it multiplies. Elements outside of the
// matrices are staged as copies of elements inside, without a branch. Their products are not stored, or have a factor of
// 0 in place of a row of a that does not exist.
template <int ROWS, int COLS, int DEPTH, int UNROLL>
__device__ void multiply(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int m, int n,
                         int k, int depth)
{
    constexpr int SIDE = 4, ACROSS = COLS / SIDE, THREADS = ROWS / SIDE * ACROSS;
    constexpr int A_STEP = THREADS / ROWS, B_STEP = THREADS / COLS; // rows that all threads fetch at once
    constexpr int A_COUNT = DEPTH / A_STEP, B_COUNT = DEPTH / B_STEP;
    __shared__ __align__(16) float as[DEPTH][ROWS];
    __shared__ __align__(16) float bs[DEPTH][COLS];

    int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    int begin = blockIdx.z * depth, end = min(k, begin + depth);
    int a_row = t / ROWS, a_col = t % ROWS, b_row = t / COLS, b_col = t % COLS;
    const float *a_next = a + begin * m + min(top + a_col, m - 1);
    const float *b_next = b + begin * n + min(left + b_col, n - 1);

    // A warp computes 8 patches across and 4 down, which share rows and columns.
    int lane = t % 32, warp = t / 32;
    int i0 = (warp / (ACROSS / 8) * 4 + lane / 8) * SIDE, j0 = (warp % (ACROSS / 8) * 8 + lane % 8) * SIDE;

    float fa[A_COUNT], fb[B_COUNT], sum[SIDE][SIDE] = {};
    auto fetch = [&](int rest) {
        rest = max(rest, 1); // the last fetch is not used
#pragma unroll
        for (int i = 0; i < A_COUNT; i++) {
            int row = a_row + i * A_STEP;
            float v = a_next[min(row, rest - 1) * m];
            fa[i] = row < rest ? v : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < B_COUNT; i++)
            fb[i] = b_next[min(b_row + i * B_STEP, rest - 1) * n];
    };
    fetch(end - begin);
    for (int rest = end - begin; rest > 0; rest -= DEPTH) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < A_COUNT; i++)
            as[a_row + i * A_STEP][a_col] = fa[i];
#pragma unroll
        for (int i = 0; i < B_COUNT; i++)
            bs[b_row + i * B_STEP][b_col] = fb[i];
        __syncthreads();
        if (rest > DEPTH) {
            a_next += DEPTH * m;
            b_next += DEPTH * n;
        }
        fetch(rest - DEPTH);
#pragma unroll UNROLL
        for (int l = 0; l < DEPTH; l++) {
            float4 x = *reinterpret_cast<float4 *>(&as[l][i0]), y = *reinterpret_cast<float4 *>(&bs[l][j0]);
            float xs[] = {x.x, x.y, x.z, x.w}, ys[] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++)
                    sum[i][j] += xs[i] * ys[j];
        }
    }
    int rows = m - top - i0, cols = n - left - j0; // from this thread's patch on
    float *patch = c + (blockIdx.z * m + top + i0) * n + left + j0;
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++)
            if (i < rows && j < cols)
                patch[j] = sum[i][j];
        patch += n;
    }
}
