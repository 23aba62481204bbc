// Matrix products on tensor cores: wmma tiles staged through shared memory, with an epilogue on the
// elements of a fragment, and mma.sync with fragments filled by hand as the ISA lays them out.
// target compute_75
// build sm80: -arch=compute_80
// build sm90: -arch=compute_90
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// c = alpha * a * b + beta * c, a by rows, b by columns; a block is one warp and one 16x16 tile.
extern "C" __global__ void wmma_gemm(const __half *a, const __half *b, float *c, int n, int k, float alpha, float beta)
{
    __shared__ __half tile_a[16 * 16], tile_b[16 * 16];
    const int row = 16 * blockIdx.y, col = 16 * blockIdx.x;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 0.0f);
    for (int at = 0; at < k; at += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            tile_a[i] = a[(row + i / 16) * k + at + i % 16];
            tile_b[i] = b[(col + i / 16) * k + at + i % 16];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, tile_a, 16);
        wmma::load_matrix_sync(fb, tile_b, 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    wmma::load_matrix_sync(old, c + row * n + col, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// Integers: c = a * b on signed bytes.
extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *c, int n, int k)
{
    const int row = 16 * blockIdx.y, col = 16 * blockIdx.x;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int at = 0; at < k; at += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, a + row * k + at, k);
        wmma::load_matrix_sync(fb, b + col * k + at, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// One 16x8 tile by mma.m16n8k8: lane 4g+t holds rows g and g+8, and columns from 2t.
extern "C" __global__ void mma_tile(const __half *a, const __half *b, float *c, int k)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    float d[4] = {0, 0, 0, 0};
    for (int at = 0; at < k; at += 8) {
        const unsigned a0 = *(const unsigned *)(a + g * k + at + 2 * t);
        const unsigned a1 = *(const unsigned *)(a + (g + 8) * k + at + 2 * t);
        const unsigned b0 = *(const unsigned *)(b + g * k + at + 2 * t);
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a0), "r"(a1), "r"(b0));
    }
    c[g * 8 + 2 * t] = d[0];
    c[g * 8 + 2 * t + 1] = d[1];
    c[(g + 8) * 8 + 2 * t] = d[2];
    c[(g + 8) * 8 + 2 * t + 1] = d[3];
}

// c += a * b in every shape of tile, straight from global memory.
template <int M, int N, typename In, typename Out>
__device__ void product(int n, int k, const In *a, const In *b, Out *c)
{
    const int row = blockIdx.y * M, col = blockIdx.x * N;
    wmma::fragment<wmma::matrix_a, M, N, 16, In, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, In, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, Out> fc;
    wmma::load_matrix_sync(fc, c + row * n + col, n, wmma::mem_row_major);
    for (int t = 0; t < k; t += 16) {
        wmma::load_matrix_sync(fa, a + row * k + t, k);
        wmma::load_matrix_sync(fb, b + col * k + t, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void hgemm_16x16(int n, int k, const __half *a, const __half *b, float *c) { product<16, 16>(n, k, a, b, c); }
extern "C" __global__ void hgemm_32x8(int n, int k, const __half *a, const __half *b, float *c) { product<32, 8>(n, k, a, b, c); }
extern "C" __global__ void hgemm_8x32(int n, int k, const __half *a, const __half *b, float *c) { product<8, 32>(n, k, a, b, c); }
