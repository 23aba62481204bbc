// Kernels of the tests of package distribute. Build: nvcc -ptx -arch=sm_60 -O3 kernels.cu
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)
#define COL (blockIdx.x * blockDim.x + threadIdx.x)

// v = the mean of u and its four neighbours, on an n x n grid; the border stays.
extern "C" __global__ void stencil(const int *u, int *v, int n)
{
	int i = ROW, j = COL;
	if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1)
		return;
	v[i * n + j] = u[i * n + j] + u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1];
}

// y = a*x + y, one element per thread.
extern "C" __global__ void axpy(const int *x, int *y, int a, int n)
{
	int i = COL;
	if (i < n)
		y[i] += a * x[i];
}

// y[i] = the sum over all x[j] * (i ^ j).
extern "C" __global__ void pairs(const int *x, int *y, int n)
{
	int i = COL;
	if (i >= n)
		return;
	int sum = 0;
	for (int j = 0; j < n; j++)
		sum += x[j] * (i ^ j);
	y[i] = sum;
}

// y[i] = x[n-1-i]
extern "C" __global__ void reverse(const int *x, int *y, int n)
{
	int i = COL;
	if (i < n)
		y[i] = x[n - 1 - i];
}

// parts[b] = the sum of the elements of block b.
extern "C" __global__ void sums(const int *x, int *parts, int n)
{
	__shared__ int s[256];
	int i = COL;
	s[threadIdx.x] = i < n ? x[i] : 0;
	for (int step = blockDim.x / 2; step > 0; step /= 2) {
		__syncthreads();
		if (threadIdx.x < step)
			s[threadIdx.x] += s[threadIdx.x + step];
	}
	if (threadIdx.x == 0)
		parts[blockIdx.x] = s[0];
}

// total = the sum of all parts, by one thread.
extern "C" __global__ void fold(const int *parts, int *total, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += parts[i];
	if (threadIdx.x == 0)
		total[0] = sum;
}

// y[i] = y[i] + total, where total is a scalar in memory.
extern "C" __global__ void shift(const int *total, int *y, int n)
{
	int i = COL;
	if (i < n)
		y[i] += total[0];
}

// counts[x[i] & 15] += 1
extern "C" __global__ void count(const int *x, int *counts, int n)
{
	int i = COL;
	if (i < n)
		atomicAdd(&counts[x[i] & 15], 1);
}

// y[perm[i]] = x[i]
extern "C" __global__ void scatter(const int *x, const int *perm, int *y, int n)
{
	int i = COL;
	if (i < n)
		y[perm[i]] = x[i];
}

// y[i] = x[perm[i]]
extern "C" __global__ void gather(const int *x, const int *perm, int *y, int n)
{
	int i = COL;
	if (i < n)
		y[i] = x[perm[i]];
}

// Each result is updated by each x[i] in one way; those of f and d are sums of small whole numbers, so their order does not matter.
extern "C" __global__ void updates(const int *x, int *low, unsigned *high, unsigned *all, unsigned *any, unsigned *odd, float *f, double *d,
				   unsigned long long *l, int n)
{
	int i = COL;
	if (i >= n)
		return;
	atomicMin(low, x[i]);
	atomicMax(high + 1, (unsigned)x[i]);
	atomicAnd(all, (unsigned)x[i] | 0xff00ffff);
	atomicOr(any, (unsigned)x[i] & 0xff0);
	atomicXor(odd, (unsigned)x[i]);
	atomicAdd(f + (x[i] & 3), (float)(x[i] & 7));
	atomicAdd(d + (x[i] & 3), (double)(x[i] & 15));
	atomicMax(l, (unsigned long long)x[i] << 8);
}

// tickets[i] = the old value of a counter: the result of the update is used.
extern "C" __global__ void ticket(int *counter, int *tickets, int n)
{
	int i = COL;
	if (i < n)
		tickets[i] = atomicAdd(counter, 1);
}
