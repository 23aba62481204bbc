// gemm_64x64: c[z] = the product of a, transposed, and b, over their rows z * depth to (z + 1) * depth.
// c[z][i][j] = sum of a[l][i] * b[l][j] over z * depth <= l < min(k, (z + 1) * depth).
// Shapes: a k x m, b k x n, c as many m x n as the grid is deep, all row-major.
// Launch: blocks of 256 threads, each for 64 x 64 elements: x over columns and y over rows of c, z over its matrices.
#include "gemm.cuh"

extern "C" __global__ void __launch_bounds__(256) gemm_64x64(float *c, const float *a, const float *b, int m, int n, int k, int depth)
{
    multiply<64, 64, 16, 16>(c, a, b, m, n, k, depth);
}
