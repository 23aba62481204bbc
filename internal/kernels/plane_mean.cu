// plane_mean: out[q] = mean of x[q][p] over 0 <= p < places.
// Shapes: x planes x places, row-major, out planes.
// Launch: one dimension, any number of blocks of whole warps; a warp takes whole planes.
extern "C" __global__ void plane_mean(float *out, const float *x, int planes, int places)
{
    int lane = threadIdx.x % 32, step = blockDim.x / 32 * gridDim.x;
    for (int q = (blockIdx.x * blockDim.x + threadIdx.x) / 32; q < planes; q += step) {
        float sum = 0.0f;
        for (int p = lane; p < places; p += 32)
            sum += x[q * places + p];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0)
            out[q] = sum / places;
    }
}
