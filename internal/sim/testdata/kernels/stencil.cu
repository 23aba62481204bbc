// Stencils that stage their input, halo and all, in shared memory.
// build sm60: -arch=compute_60

#define BX 32
#define BY 8
#define R 2 // how far the 2-D star reaches

// The centre, then left, right, above and below at each distance.
__constant__ float weights[4 * R + 1];

// A star of 4 R + 1 points; outside the plane the nearest cell counts.
extern "C" __global__ void star2d(const float *__restrict__ in, float *__restrict__ out, int nx, int ny)
{
    __shared__ float tile[BY + 2 * R][BX + 2 * R];
    const int x0 = blockIdx.x * BX - R, y0 = blockIdx.y * BY - R;
    for (int y = threadIdx.y; y < BY + 2 * R; y += BY)
        for (int x = threadIdx.x; x < BX + 2 * R; x += BX) {
            const int gx = min(max(x0 + x, 0), nx - 1), gy = min(max(y0 + y, 0), ny - 1);
            tile[y][x] = in[gy * nx + gx];
        }
    __syncthreads();
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    const int tx = threadIdx.x + R, ty = threadIdx.y + R;
    float sum = weights[0] * tile[ty][tx];
#pragma unroll
    for (int r = 1; r <= R; ++r) {
        sum += weights[4 * r - 3] * tile[ty][tx - r];
        sum += weights[4 * r - 2] * tile[ty][tx + r];
        sum += weights[4 * r - 1] * tile[ty - r][tx];
        sum += weights[4 * r] * tile[ty + r][tx];
    }
    out[y * nx + x] = sum;
}

// Seven points in 3-D: a plane in shared memory, the column in registers, marching in z.
// Cells on the boundary keep their value.
extern "C" __global__ void heat3d(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, double alpha)
{
    __shared__ double plane[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inside = x < nx && y < ny;
    const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    const size_t slab = (size_t)nx * ny;
    size_t i = (size_t)y * nx + x;

    double behind = 0, here = inside ? in[i] : 0, ahead = inside && nz > 1 ? in[i + slab] : 0;
    for (int z = 0; z < nz; ++z, i += slab) {
        __syncthreads();
        plane[ty][tx] = here;
        if (inside) {
            if (threadIdx.x == 0 && x > 0)
                plane[ty][0] = in[i - 1];
            if ((threadIdx.x == BX - 1 || x == nx - 1) && x + 1 < nx)
                plane[ty][tx + 1] = in[i + 1];
            if (threadIdx.y == 0 && y > 0)
                plane[0][tx] = in[i - nx];
            if ((threadIdx.y == BY - 1 || y == ny - 1) && y + 1 < ny)
                plane[ty + 1][tx] = in[i + nx];
        }
        __syncthreads();
        if (inside) {
            if (edge || z == 0 || z == nz - 1)
                out[i] = here;
            else
                out[i] = here + alpha * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + behind + ahead - 6 * here);
            behind = here;
            here = ahead;
            ahead = z + 2 < nz ? in[i + 2 * slab] : 0;
        }
    }
}

// Conway's life on a torus: bytes, and a table by number of neighbours.
extern "C" __global__ void life(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int nx, int ny)
{
    __shared__ unsigned char cells[18][18];
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        const int y = ((int)(blockIdx.y * 16) + i / 18 - 1 + ny) % ny, x = ((int)(blockIdx.x * 16) + i % 18 - 1 + nx) % nx;
        cells[i / 18][i % 18] = in[y * nx + x];
    }
    __syncthreads();
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int n = 0;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx)
            if (dx != 1 || dy != 1)
                n += cells[threadIdx.y + dy][threadIdx.x + dx];
    out[y * nx + x] = n == 3 || (n == 2 && cells[threadIdx.y + 1][threadIdx.x + 1]);
}

// The transpose that every course shows: padding keeps columns off one bank.
extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int nx, int ny)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (x < nx && y + j < ny)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (x < ny && y + j < nx)
            out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}
