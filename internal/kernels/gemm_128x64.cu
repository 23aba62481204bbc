// gemm_128x64: c[z] = the product of a, transposed, and b, over their rows z * depth to (z + 1) * depth.
// c[z][i][j] = sum of a[l][i] * b[l][j] over z * depth <= l < min(k, (z + 1) * depth).
// Shapes: a k x m, b k x n, c as many m x n as the grid is deep, all row-major.
// Launch: blocks of 512 threads, each for 128 x 64 elements: x over columns and y over rows of c, z over its matrices.
#include "gemm.cuh"

extern "C" __global__ void __launch_bounds__(512) gemm_128x64(float *c, const float *a, const float *b, int m, int n, int k, int depth)
{
    multiply<128, 64, 64, 8>(c, a, b, m, n, k, depth);
}
