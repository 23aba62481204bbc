// Gravity between all pairs of bodies, tile by tile (Nyland, Harris, Prins 2007).

__device__ float3 interact(float3 a, float4 me, float4 other, float softening2)
{
    const float3 r = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
    const float d2 = r.x * r.x + r.y * r.y + r.z * r.z + softening2;
    const float inv = rsqrtf(d2), s = other.w * inv * inv * inv;
    a.x += r.x * s;
    a.y += r.y * s;
    a.z += r.z * s;
    return a;
}

// position.w is a body's mass. Bodies past n have none.
extern "C" __global__ void nbody(const float4 *__restrict__ position, float4 *__restrict__ acceleration, int n, float softening2)
{
    extern __shared__ float4 tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += blockDim.x) {
        const int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; ++k)
            a = interact(a, me, tile[k], softening2);
        __syncthreads();
    }
    if (i < n)
        acceleration[i] = make_float4(a.x, a.y, a.z, 0);
}

// A leapfrog step.
extern "C" __global__ void advance(float4 *__restrict__ position, float4 *__restrict__ velocity, const float4 *__restrict__ acceleration, int n, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = position[i], v = velocity[i];
    const float4 a = acceleration[i];
    v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
    p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
    position[i] = p;
    velocity[i] = v;
}
