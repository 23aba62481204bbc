// matmul: the product of two matrices.
// Launch: blocks of 16 x 16 threads, each for 64 x 64 elements of c: x over columns and y over rows.

// matmul: c = a b. Shapes: a m x k, b k x n, c m x n, all row-major.
// A block stages 16 columns of a and 16 rows of b at a time in shared memory. A thread computes 4 x 4 elements, 16 rows
// and 16 columns apart. Elements outside of the matrices are staged as copies of elements inside; their products have a
// factor of 0 or are not stored.
extern "C" __global__ void __launch_bounds__(256) matmul(float *c, const float *a, const float *b, int m, int n, int k)
{
    constexpr int SIDE = 16, EACH = 4, TILE = SIDE * EACH;
    __shared__ float as[TILE][SIDE + 1], bs[SIDE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * TILE + ty, left = blockIdx.x * TILE + tx;
    float sum[EACH][EACH] = {};
    for (int first = 0; first < k; first += SIDE) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            float v = a[min(top + e * SIDE, m - 1) * k + min(first + tx, k - 1)];
            as[ty + e * SIDE][tx] = first + tx < k ? v : 0.0f;
            bs[ty][tx + e * SIDE] = b[min(first + ty, k - 1) * n + min(left + e * SIDE, n - 1)];
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < SIDE; l++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += as[ty + i * SIDE][l] * bs[l][tx + j * SIDE];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (top + i * SIDE < m && left + j * SIDE < n)
                c[(top + i * SIDE) * n + left + j * SIDE] = sum[i][j];
}
