// Integer arithmetic of every width, division above all, and the bit intrinsics.
// target compute_75
// build sm60: -arch=compute_60

template <typename T> struct Result {
    T sum, difference, product, quotient, remainder, left, right, less;
};

template <typename T> __device__ void arithmetic(const T *a, const T *b, Result<T> *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const T x = a[i], y = b[i];
    const int shift = (int)(y & (sizeof(T) * 8 - 1));
    out[i] = {T(x + y), T(x - y), T(x * y), T(x / y), T(x % y), T(x << shift), T(x >> shift), T(x < y)};
}

#define ARITHMETIC(name, T) \
    extern "C" __global__ void name(const T *a, const T *b, Result<T> *out, int n) { arithmetic(a, b, out, n); }
ARITHMETIC(arithmetic_s8, signed char)
ARITHMETIC(arithmetic_u8, unsigned char)
ARITHMETIC(arithmetic_s16, short)
ARITHMETIC(arithmetic_u16, unsigned short)
ARITHMETIC(arithmetic_s32, int)
ARITHMETIC(arithmetic_u32, unsigned)
ARITHMETIC(arithmetic_s64, long long)
ARITHMETIC(arithmetic_u64, unsigned long long)

// Division by constants, which compilers turn into multiplications.
extern "C" __global__ void by_constants(const int *x, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int v = x[i];
    out += i * 10;
    out[0] = v / 3, out[1] = v % 3, out[2] = v / 7, out[3] = v % 10, out[4] = v / 16;
    out[5] = v % 16, out[6] = (unsigned)v / 641, out[7] = (unsigned)v % 1000, out[8] = v / -5, out[9] = v / 2147483647;
}

struct Bits {
    unsigned clz, ffs, popc, brev, perm, funnelLeft, funnelRight, mulhi, umul24, usad, hadd, rhadd;
    int mulhiSigned, mul24, sad;
    unsigned clzll, ffsll, popcll;
    unsigned long long brevll, mul64hi;
};

extern "C" __global__ void bits(const unsigned *x, const unsigned *y, Bits *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned a = x[i], b = y[i];
    const unsigned long long w = (unsigned long long)a << 32 | b;
    Bits r;
    r.clz = __clz(a), r.ffs = __ffs(a), r.popc = __popc(a), r.brev = __brev(a);
    r.perm = __byte_perm(a, b, 0x5274), r.funnelLeft = __funnelshift_l(a, b, b), r.funnelRight = __funnelshift_rc(a, b, a);
    r.mulhi = __umulhi(a, b), r.umul24 = __umul24(a, b), r.usad = __usad(a, b, 5), r.hadd = __uhadd(a, b), r.rhadd = __urhadd(a, b);
    r.mulhiSigned = __mulhi((int)a, (int)b), r.mul24 = __mul24((int)a, (int)b), r.sad = __sad((int)a, (int)b, 7);
    r.clzll = __clzll(w), r.ffsll = __ffsll(w), r.popcll = __popcll(w);
    r.brevll = __brevll(w), r.mul64hi = __umul64hi(w, w ^ 0x123456789abcdefull);
    out[i] = r;
}

// Bytes and half words in a word: the SIMD-in-a-word intrinsics and the dot products.
struct Packed {
    unsigned vadd4, vsub4, vabsdiffu4, vmaxs4, vminu2, vcmpgtu4, vavgu4, vaddss2, vneg2;
    int dp4a;
    unsigned dp2a;
};

extern "C" __global__ void packed(const unsigned *x, const unsigned *y, Packed *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned a = x[i], b = y[i];
    Packed r;
    r.vadd4 = __vadd4(a, b), r.vsub4 = __vsub4(a, b), r.vabsdiffu4 = __vabsdiffu4(a, b), r.vmaxs4 = __vmaxs4(a, b);
    r.vminu2 = __vminu2(a, b), r.vcmpgtu4 = __vcmpgtu4(a, b), r.vavgu4 = __vavgu4(a, b), r.vaddss2 = __vaddss2(a, b), r.vneg2 = __vneg2(a);
#if __CUDA_ARCH__ >= 610
    r.dp4a = __dp4a((int)a, (int)b, 11);
    r.dp2a = __dp2a_lo(a, b, 13u);
#else
    r.dp4a = 11;
    r.dp2a = 13;
    for (int k = 0; k < 4; ++k)
        r.dp4a += (signed char)(a >> 8 * k) * (signed char)(b >> 8 * k);
    for (int k = 0; k < 2; ++k)
        r.dp2a += (a >> 16 * k & 0xffff) * (b >> 8 * k & 0xff);
#endif
    out[i] = r;
}

// 128-bit products and sums with carries, as cryptography and hashing use them.
extern "C" __global__ void wide(const ulonglong2 *a, const ulonglong2 *b, ulonglong2 *sum, ulonglong4 *product, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const ulonglong2 x = a[i], y = b[i];
    ulonglong2 s;
    asm("{\n\t"
        ".reg .u64 lo;\n\t"
        "add.cc.u64 lo, %2, %4;\n\t"
        "addc.u64 %1, %3, %5;\n\t"
        "mov.u64 %0, lo;\n\t"
        "}"
        : "=l"(s.x), "=l"(s.y)
        : "l"(x.x), "l"(x.y), "l"(y.x), "l"(y.y));
    sum[i] = s;
    ulonglong4 p;
    asm("{\n\t"
        ".reg .u64 p0, p1, p2, p3;\n\t"
        "mul.lo.u64 p0, %4, %6;\n\t"
        "mul.hi.u64 p1, %4, %6;\n\t"
        "mad.lo.cc.u64 p1, %4, %7, p1;\n\t"
        "madc.hi.u64 p2, %4, %7, 0;\n\t"
        "mad.lo.cc.u64 p1, %5, %6, p1;\n\t"
        "madc.hi.cc.u64 p2, %5, %6, p2;\n\t"
        "madc.hi.u64 p3, %5, %7, 0;\n\t"
        "mad.lo.cc.u64 p2, %5, %7, p2;\n\t"
        "addc.u64 p3, p3, 0;\n\t"
        "mov.u64 %0, p0;\n\t"
        "mov.u64 %1, p1;\n\t"
        "mov.u64 %2, p2;\n\t"
        "mov.u64 %3, p3;\n\t"
        "}"
        : "=l"(p.x), "=l"(p.y), "=l"(p.z), "=l"(p.w)
        : "l"(x.x), "l"(x.y), "l"(y.x), "l"(y.y));
    product[i] = p;
}
