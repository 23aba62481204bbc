// Calls that stay calls: recursion, function pointers, virtual functions, switches, structs by
// value, and arguments on the stack.

struct Vec {
    double x, y, z;
    int tag;
};

// A struct by value as a kernel's parameter, through a function that is not inlined.
__device__ __noinline__ Vec cross(Vec a, Vec b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, a.tag - b.tag};
}

extern "C" __global__ void cross_all(Vec a, const Vec *b, Vec *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = cross(a, b[i]);
}

// Recursion whose depth differs by lane.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

extern "C" __global__ void ackermann_all(const uint2 *in, unsigned *out)
{
    const int i = threadIdx.x;
    out[i] = ackermann(in[i].x, in[i].y);
}

// Adaptive quadrature: recursion into both halves where the rule does not agree with itself.
__device__ double wave(double x) { return 1 / (1e-2 + x * x); }

__device__ double simpson(double a, double fa, double b, double fb, double fm) { return (b - a) / 6 * (fa + 4 * fm + fb); }

__device__ double adaptive(double a, double fa, double b, double fb, double fm, double whole, double epsilon, int depth, int *deepest)
{
    const double m = (a + b) / 2, fl = wave((a + m) / 2), fr = wave((m + b) / 2);
    const double left = simpson(a, fa, m, fm, fl), right = simpson(m, fm, b, fb, fr), delta = left + right - whole;
    if (depth > *deepest)
        *deepest = depth;
    if (depth >= 20 || fabs(delta) <= 15 * epsilon)
        return left + right + delta / 15;
    return adaptive(a, fa, m, fm, fl, left, epsilon / 2, depth + 1, deepest) + adaptive(m, fm, b, fb, fr, right, epsilon / 2, depth + 1, deepest);
}

extern "C" __global__ void quadrature(const double *ends, double *integral, int *depth, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double a = ends[i], b = ends[i + 1], fa = wave(a), fb = wave(b), fm = wave((a + b) / 2);
    int deepest = 0;
    integral[i] = adaptive(a, fa, b, fb, fm, simpson(a, fa, b, fb, fm), 1e-9, 0, &deepest);
    depth[i] = deepest;
}

// Function pointers: a table in module memory, and the choice of the host.
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int larger(int a, int b) { return a > b ? a : b; }
__device__ Op table[4] = {add, sub, mul, larger};

extern "C" __global__ void by_table(const int *which, const int *a, const int *b, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[which[i] & 3](a[i], b[i]);
}

// The same function for all lanes, picked by a parameter.
extern "C" __global__ void by_choice(int which, const int *a, const int *b, int *out, int n)
{
    Op op = which == 0 ? add : which == 1 ? sub : which == 2 ? mul : larger;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = op(a[i], b[i]);
}

// Virtual functions: objects made on the device, since their tables lie there.
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 4; }
};
struct Rectangle : Shape {
    float w, h;
    __device__ Rectangle(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.0f * r * r; }
    __device__ int corners() const override { return 0; }
};
struct Triangle : Shape {
    float a, h;
    __device__ Triangle(float a, float h) : a(a), h(h) {}
    __device__ float area() const override { return 0.5f * a * h; }
    __device__ int corners() const override { return 3; }
};

extern "C" __global__ void areas(const int *kind, const float2 *size, float *area, int *corners, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 s = size[i];
    Rectangle rectangle(s.x, s.y);
    Circle circle(s.x);
    Triangle triangle(s.x, s.y);
    const Shape *shapes[3] = {&rectangle, &circle, &triangle};
    const Shape *shape = shapes[kind[i]];
    area[i] = shape->area();
    corners[i] = shape->corners();
}

// A switch that becomes a jump table, in a loop: a small machine per thread.
extern "C" __global__ void machine(const unsigned char *program, int length, const int *input, int *output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = input[i], b = i, steps = 0;
    for (int pc = 0; pc < length && steps < 200; ++steps) {
        const unsigned char op = program[pc++];
        switch (op) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= 3; break;
        case 3: a ^= b << 1; break;
        case 4: { const int t = a; a = b; b = t; break; }
        case 5: a = a < 0 ? -a : a; break;
        case 6: b = a % 7; break;
        case 7: if (a & 1) ++pc; break;      // skip
        case 8: if (b > 0) { --b; pc -= 3; } break; // loop
        case 9: a = __popc(a); break;
        case 10: ++b; // falls through
        case 11: ++a; break;
        default: output[i] = a - 1000 * b; return;
        }
        if (pc < 0)
            pc = 0;
    }
    output[i] = a + b;
}
