// Block and warp algorithms of CUB 1.15, as CUDA 11.8 has them. A block has 128 threads of four
// elements each.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

const int THREADS = 128, ITEMS = 4;

template <typename T> __device__ void load(const T *in, T (&x)[ITEMS])
{
    for (int i = 0; i < ITEMS; i++)
        x[i] = in[threadIdx.x * ITEMS + i];
}

template <typename T> __device__ void store(T *out, const T (&x)[ITEMS])
{
    for (int i = 0; i < ITEMS; i++)
        out[threadIdx.x * ITEMS + i] = x[i];
}

// The sum, the maximum, and the sum of the first elements of 77 threads.
template <cub::BlockReduceAlgorithm A> __device__ void reduce(const int *in, int *out)
{
    typedef cub::BlockReduce<int, THREADS, A> Reduce;
    __shared__ typename Reduce::TempStorage space;
    int x[ITEMS];
    load(in, x);
    const int sum = Reduce(space).Sum(x);
    __syncthreads();
    const int most = Reduce(space).Reduce(x, cub::Max());
    __syncthreads();
    const int part = Reduce(space).Sum(x[0], 77);
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = most;
        out[2] = part;
    }
}

extern "C" __global__ void reduce_commutative(const int *in, int *out) { reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out); }
extern "C" __global__ void reduce_raking(const int *in, int *out) { reduce<cub::BLOCK_REDUCE_RAKING>(in, out); }
extern "C" __global__ void reduce_warps(const int *in, int *out) { reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out); }

// Exclusive sums and inclusive maxima.
template <cub::BlockScanAlgorithm A> __device__ void scan(const int *in, int *sums, int *maxima)
{
    typedef cub::BlockScan<int, THREADS, A> Scan;
    __shared__ typename Scan::TempStorage space;
    int x[ITEMS], y[ITEMS];
    load(in, x);
    Scan(space).ExclusiveSum(x, y);
    store(sums, y);
    __syncthreads();
    Scan(space).InclusiveScan(x, y, cub::Max());
    store(maxima, y);
}

extern "C" __global__ void scan_raking(const int *in, int *sums, int *maxima) { scan<cub::BLOCK_SCAN_RAKING>(in, sums, maxima); }
extern "C" __global__ void scan_warps(const int *in, int *sums, int *maxima) { scan<cub::BLOCK_SCAN_WARP_SCANS>(in, sums, maxima); }

// A stable sort of floats with their indices.
extern "C" __global__ void radix_sort(const float *in, float *keys, int *indices)
{
    typedef cub::BlockRadixSort<float, THREADS, ITEMS, int> Sort;
    __shared__ Sort::TempStorage space;
    float x[ITEMS];
    int index[ITEMS];
    load(in, x);
    for (int i = 0; i < ITEMS; i++)
        index[i] = threadIdx.x * ITEMS + i;
    Sort(space).Sort(x, index);
    store(keys, x);
    store(indices, index);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out)
{
    typedef cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256, cub::BLOCK_HISTO_ATOMIC> Histogram;
    __shared__ Histogram::TempStorage space;
    __shared__ unsigned counts[256];
    unsigned char x[ITEMS];
    load(in, x);
    Histogram(space).Histogram(x, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS)
        out[i] = counts[i];
}

// Sums that begin anew at each head: the operator is not commutative.
struct Segment
{
    int head;
    float sum;
};

struct Join
{
    __device__ Segment operator()(const Segment &a, const Segment &b) const
    {
        Segment s = {a.head + b.head, b.head ? b.sum : a.sum + b.sum};
        return s;
    }
};

extern "C" __global__ void segmented_sums(const int *heads, const float *in, float *out)
{
    typedef cub::BlockScan<Segment, THREADS> Scan;
    __shared__ Scan::TempStorage space;
    Segment s = {heads[threadIdx.x], in[threadIdx.x]}, t;
    Scan(space).InclusiveScan(s, t, Join());
    out[threadIdx.x] = t.sum;
}

// The least of each eight doubles.
extern "C" __global__ void least_of_eight(const double *in, double *out)
{
    typedef cub::WarpReduce<double, 8> Reduce;
    __shared__ Reduce::TempStorage space[THREADS / 8];
    const double least = Reduce(space[threadIdx.x / 8]).Reduce(in[threadIdx.x], cub::Min());
    if (threadIdx.x % 8 == 0)
        out[threadIdx.x / 8] = least;
}
