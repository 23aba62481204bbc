// Radix-2 fast Fourier transforms.

__device__ float2 multiply(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// One transform of 2 * blockDim.x points per block, in place in shared memory: bit reversal on
// the way in, then log2(n) stages of butterflies.
extern "C" __global__ void fft_block(const float2 *in, float2 *out, int log2n, float sign)
{
    extern __shared__ float2 s[];
    const int n = 1 << log2n, t = threadIdx.x;
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    for (int i = t; i < n; i += blockDim.x)
        s[__brev(i) >> (32 - log2n)] = in[i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        const int k = t & (half - 1), i = 2 * t - k;
        float sine, cosine;
        sincospif(sign * k / half, &sine, &cosine);
        const float2 a = s[i], b = multiply(make_float2(cosine, sine), s[i + half]);
        s[i] = make_float2(a.x + b.x, a.y + b.y);
        s[i + half] = make_float2(a.x - b.x, a.y - b.y);
    }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        out[i] = s[i];
}

// One Stockham stage over the whole array, which needs no bit reversal: launched log2(n) times
// between two buffers.
extern "C" __global__ void fft_stockham(const double2 *__restrict__ in, double2 *__restrict__ out, int n, int half)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    const int k = t & (half - 1);
    double sine, cosine;
    sincospi(-(double)k / half, &sine, &cosine);
    const double2 a = in[t], b = in[t + n / 2];
    const double2 c = make_double2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    const int j = (t << 1) - k;
    out[j] = make_double2(a.x + c.x, a.y + c.y);
    out[j + half] = make_double2(a.x - c.x, a.y - c.y);
}
