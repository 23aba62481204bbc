// Atomic operations of every kind, as functions of the runtime: on global and on shared
// memory, with and without use of the result.
// target compute_75
// build sm60: -arch=compute_60
// build sm90: -arch=compute_90
#include <cuda_fp16.h>

// One word for each operation, initialised by the host.
struct Words {
    int add, sub, min, max, and_, or_, xor_, exch, casMax;
    unsigned inc, dec, umin, umax;
};

extern "C" __global__ void on_global(Words *w, const int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int v = x[i];
    atomicAdd(&w->add, v);
    atomicSub(&w->sub, v);
    atomicMin(&w->min, v);
    atomicMax(&w->max, v);
    atomicAnd(&w->and_, v);
    atomicOr(&w->or_, v);
    atomicXor(&w->xor_, v);
    atomicExch(&w->exch, v);
    atomicInc(&w->inc, 9);
    atomicDec(&w->dec, 9);
    atomicMin(&w->umin, (unsigned)v);
    atomicMax(&w->umax, (unsigned)v);
    int seen = w->casMax;
    while (v > seen) {
        const int was = atomicCAS(&w->casMax, seen, v);
        if (was == seen)
            break;
        seen = was;
    }
}

extern "C" __global__ void on_shared(Words *w, const int *x, int n)
{
    __shared__ Words s;
    if (threadIdx.x == 0)
        s = *w;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int v = x[i];
        atomicAdd(&s.add, v);
        atomicSub(&s.sub, v);
        atomicMin(&s.min, v);
        atomicMax(&s.max, v);
        atomicAnd(&s.and_, v);
        atomicOr(&s.or_, v);
        atomicXor(&s.xor_, v);
        atomicExch(&s.exch, v);
        atomicInc(&s.inc, 9u);
        atomicDec(&s.dec, 9u);
        atomicMin(&s.umin, (unsigned)v);
        atomicMax(&s.umax, (unsigned)v);
        int seen = s.casMax;
        while (v > seen) {
            const int was = atomicCAS(&s.casMax, seen, v);
            if (was == seen)
                break;
            seen = was;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *w = s;
}

// What each atomic returned: the values are a permutation of what a serial run returns.
extern "C" __global__ void returned(unsigned *counter, unsigned *ring, unsigned *add, unsigned *inc, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    add[i] = atomicAdd(counter, 3u);
    inc[i] = atomicInc(ring, 6u);
}

extern "C" __global__ void wide(unsigned long long *w, const long long *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const long long v = x[i];
    atomicAdd(&w[0], (unsigned long long)v);
    atomicMin((long long *)&w[1], v);
    atomicMax((long long *)&w[2], v);
    atomicMin(&w[3], (unsigned long long)v);
    atomicMax(&w[4], (unsigned long long)v);
    atomicAnd(&w[5], (unsigned long long)v);
    atomicOr(&w[6], (unsigned long long)v);
    atomicXor(&w[7], (unsigned long long)v);
    atomicExch(&w[8], (unsigned long long)v);
}

extern "C" __global__ void floats(float *f, double *d, __half2 *h, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(f, x[i]);
    atomicAdd(d, (double)x[i]);
    atomicAdd(h, __floats2half2_rn(x[i], -x[i]));
}

// What programs had to write before the hardware could, and for what it still cannot.
__device__ double atomicMul(double *p, double v)
{
    unsigned long long *word = reinterpret_cast<unsigned long long *>(p), old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(v * __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ float atomicMaxFloat(float *p, float v)
{
    return v >= 0 ? __int_as_float(atomicMax((int *)p, __float_as_int(v))) : __uint_as_float(atomicMin((unsigned *)p, __float_as_uint(v)));
}

extern "C" __global__ void emulated(double *product, float *largest, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicMul(product, x[i] < 0 ? 0.5 : 2.0);
    atomicMaxFloat(largest, x[i]);
}

// Scopes: within the block, and with the host.
extern "C" __global__ void scoped(unsigned *w)
{
    atomicAdd_block(&w[blockIdx.x], 1u);
    atomicAdd_system(&w[gridDim.x], 1u);
    atomicOr_block(&w[gridDim.x + 1], 1u << (threadIdx.x & 31));
}

#if __CUDA_ARCH__ >= 700
extern "C" __global__ void shorts(unsigned short *w, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short seen = *(volatile unsigned short *)w, was;
    while ((was = atomicCAS(w, seen, (unsigned short)(seen + 3))) != seen)
        seen = was;
}
#endif
