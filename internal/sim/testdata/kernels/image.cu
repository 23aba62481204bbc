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

// At points in any place, with any filter and address mode.
extern "C" __global__ void sample(cudaTextureObject_t t, const float2 *at, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

// Rotates an image about its middle: normalised coordinates, four channels of bytes.
extern "C" __global__ void rotate(cudaTextureObject_t t, float4 *out, int width, int height, float sine, float cosine)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    out[y * width + x] = tex2D<float4>(t, u * cosine - v * sine + 0.5f, u * sine + v * cosine + 0.5f);
}

// A weighted sum over the layers of an array.
extern "C" __global__ void layers(cudaTextureObject_t t, float *out, int width, int height, int count)
{
    const int x = threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int l = 0; l < count; ++l)
        sum += (l + 1) * tex2DLayered<float>(t, x + 0.5f, y + 0.5f, l);
    out[y * width + x] = sum;
}

// A 3 by 3 box filter from one surface to another; outside the image is zero.
extern "C" __global__ void box(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            unsigned short v;
            surf2Dread(&v, in, (x + dx) * (int)sizeof v, y + dy, cudaBoundaryModeZero);
            sum += v;
        }
    surf2Dwrite((unsigned short)(sum / 9), out, x * (int)sizeof(unsigned short), y);
}
