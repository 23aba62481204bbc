// Textures and surfaces as image programs use them.

// Enlarges or shrinks an image with the filter of the texture unit.
extern "C" __global__ void resize(cudaTextureObject_t src, float *dst, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[y * width + x] = tex2D<float>(src, (x + 0.5f) / width, (y + 0.5f) / height);
}

// Inverts bytes from a texture into a surface.
extern "C" __global__ void invert(cudaTextureObject_t src, cudaSurfaceObject_t dst, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        const uchar4 c = tex2D<uchar4>(src, x, y);
        surf2Dwrite(make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w), dst, x * 4, y);
    }
}

// Gathers from linear memory, with zero beyond its ends.
extern "C" __global__ void gather(cudaTextureObject_t table, const int *index, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<float>(table, index[i]);
}

// Samples a volume along a line through it.
extern "C" __global__ void ray(cudaTextureObject_t volume, float3 from, float3 step, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex3D<float>(volume, from.x + i * step.x, from.y + i * step.y, from.z + i * step.z);
}

// Flips a surface in place, one thread a pair of rows.
extern "C" __global__ void flip(cudaSurfaceObject_t image, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    const float above = surf2Dread<float>(image, x * 4, y), below = surf2Dread<float>(image, x * 4, height - 1 - y);
    surf2Dwrite(below, image, x * 4, y);
    surf2Dwrite(above, image, x * 4, height - 1 - y);
}
