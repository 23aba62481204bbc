// nbody: bodies of mass 1 that attract each other, all pairs.
// Launch: blocks of 256 threads, a thread for each body. Positions and velocities are x, y, z and a fourth number that is
// not used, so that each is one access of 16 bytes.
constexpr int TILE = 256;

// nbody_force: v[i] += dt * the sum over all j of (x[j] - x[i]) * (|x[j] - x[i]|^2 + eps)^(-3/2).
// A block stages the positions of TILE bodies at a time in shared memory. Its last tile repeats the last body; the sum
// leaves the repetitions out.
extern "C" __global__ void __launch_bounds__(TILE) nbody_force(float4 *v, const float4 *x, int n, float dt, float eps)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 at = x[min(i, n - 1)];
    float fx = 0, fy = 0, fz = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = x[min(first + (int)threadIdx.x, n - 1)];
        __syncthreads();
        int bodies = min(TILE, n - first);
#pragma unroll 8
        for (int j = 0; j < bodies; j++) {
            float4 other = tile[j];
            float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
            float cube = inverse * inverse * inverse;
            fx += dx * cube;
            fy += dy * cube;
            fz += dz * cube;
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    float4 speed = v[i];
    v[i] = make_float4(speed.x + dt * fx, speed.y + dt * fy, speed.z + dt * fz, speed.w);
}

// nbody_move: x[i] += dt * v[i].
extern "C" __global__ void __launch_bounds__(TILE) nbody_move(float4 *x, const float4 *v, int n, float dt)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i >= n)
        return;
    float4 at = x[i], speed = v[i];
    x[i] = make_float4(at.x + dt * speed.x, at.y + dt * speed.y, at.z + dt * speed.z, at.w);
}
