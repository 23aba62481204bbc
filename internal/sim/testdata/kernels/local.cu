// Arrays of a thread that are indexed by data, and so live in local memory.

// Selection of the K smallest by insertion.
template <typename T, int K> __device__ void smallest(const T *x, int n, T *out)
{
    T best[K];
    int have = 0;
    for (int i = 0; i < n; ++i) {
        const T v = x[i];
        int at = have < K ? have++ : K;
        if (at == K && !(v < best[K - 1]))
            continue;
        if (at == K)
            at = K - 1;
        while (at > 0 && v < best[at - 1]) {
            best[at] = best[at - 1];
            --at;
        }
        best[at] = v;
    }
    for (int i = 0; i < K; ++i)
        out[i] = i < have ? best[i] : T(-1);
}

extern "C" __global__ void smallest_u16(const unsigned short *x, unsigned short *out, int n) { smallest<unsigned short, 5>(x + threadIdx.x * n, n, out + threadIdx.x * 5); }
extern "C" __global__ void smallest_f64(const double *x, double *out, int n) { smallest<double, 7>(x + threadIdx.x * n, n, out + threadIdx.x * 7); }

// The queens problem with an explicit stack: how many ways continue from each first column.
extern "C" __global__ void queens(int *ways, int n)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= n)
        return;
    int column[12], depth = 1, count = 0;
    column[0] = first;
    column[1] = -1;
    while (depth > 0) {
        if (depth == n) {
            ++count;
            --depth;
            continue;
        }
        int c = column[depth];
        bool free;
        do {
            ++c;
            free = c < n;
            for (int r = 0; r < depth && free; ++r)
                free = column[r] != c && abs(column[r] - c) != depth - r;
        } while (c < n && !free);
        column[depth] = c;
        if (c < n)
            column[++depth] = -1;
        else
            --depth;
    }
    ways[first] = count;
}

// Bytes written one by one and read as words: local memory is memory.
extern "C" __global__ void shuffle_bytes(const unsigned *in, unsigned *out, int n, int flip)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char bytes[4], turned[4];
    *reinterpret_cast<unsigned *>(bytes) = in[i];
    for (int b = 0; b < 4; ++b)
        turned[(b ^ flip) & 3] = bytes[b];
    out[i] = *reinterpret_cast<unsigned *>(turned);
}

// Structs in a local array, swapped whole through pointers.
struct Particle {
    double3 position;
    short kind;
    float mass;
};

extern "C" __global__ void sort_structs(const Particle *in, Particle *out, int n)
{
    Particle p[9];
    in += threadIdx.x * n;
    out += threadIdx.x * n;
    for (int i = 0; i < n; ++i)
        p[i] = in[i];
    for (int i = 1; i < n; ++i)
        for (Particle *q = p + i; q > p && q->mass < q[-1].mass; --q) {
            const Particle t = *q;
            *q = q[-1];
            q[-1] = t;
        }
    for (int i = 0; i < n; ++i)
        out[i] = p[i];
}
