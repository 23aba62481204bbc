// Output, failed assertions, the device's heap and clocks.
#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(int n, float x)
{
    if (threadIdx.x == 0)
        printf("block %d of %d\n", blockIdx.x, gridDim.x);
    if (blockIdx.x == 0 && threadIdx.x < n)
        printf("[%2u] %-6s|%5.2f|%+d|%#x|%e|%c|%%|%lld|%08.3f\n", threadIdx.x, threadIdx.x % 2 ? "odd" : "even", x * threadIdx.x, (int)threadIdx.x - 1,
               255u << threadIdx.x, (double)x, 'a' + threadIdx.x, 1ll << (32 + threadIdx.x), -x);
}

extern "C" __global__ void printed(int *out)
{
    out[0] = printf("no arguments\n");
    out[1] = printf("%d %d %d\n", 1, 2, 3);
}

extern "C" __global__ void checked(const int *x, int limit)
{
    assert(x[threadIdx.x] < limit && "the input is in range");
}

extern "C" __global__ void trapped(int at)
{
    if (threadIdx.x == at)
        __trap();
}

// A linked list from the device's heap, given back by another thread than made it.
struct Cell {
    Cell *next;
    int value;
};

extern "C" __global__ void heap(int *sums, int n)
{
    __shared__ Cell *lists[64];
    Cell *list = nullptr;
    for (int i = 0; i < n; ++i) {
        Cell *c = (Cell *)malloc(sizeof(Cell));
        if (c == nullptr)
            __trap();
        c->next = list;
        c->value = i * (threadIdx.x + 1);
        list = c;
    }
    lists[threadIdx.x] = list;
    __syncthreads();
    int sum = 0;
    for (Cell *c = lists[blockDim.x - 1 - threadIdx.x]; c != nullptr;) {
        sum += c->value;
        Cell *next = c->next;
        free(c);
        c = next;
    }
    sums[threadIdx.x] = sum;
}

extern "C" __global__ void exhausted(unsigned long long bytes, int *null)
{
    void *p = malloc(bytes);
    *null = p == nullptr;
    free(p);
}

// Constructors on the heap.
struct Counter {
    int *hits;
    __device__ explicit Counter(int *h) : hits(h) { atomicAdd(hits, 1); }
    __device__ ~Counter() { atomicAdd(hits + 1, 1); }
};

extern "C" __global__ void objects(int *hits)
{
    Counter *c = new Counter(hits);
    delete c;
}

extern "C" __global__ void clocks(long long *out, unsigned *work)
{
    const long long start = clock64();
    const clock_t coarse = clock();
    unsigned v = threadIdx.x + 1;
    for (int i = 0; i < 100; ++i)
        v ^= v << 13, v ^= v >> 17, v ^= v << 5;
    work[threadIdx.x] = v;
    out[threadIdx.x * 2] = clock64() - start;
    out[threadIdx.x * 2 + 1] = (long long)(clock() - coarse);
}

extern "C" __global__ void globaltimer(unsigned long long *t)
{
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(*t));
}
