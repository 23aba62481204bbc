// bias_clamp: out[l][p] = bias[l] + sum of x[z][l][p] over 0 <= z < parts, cut to at least low and at most high.
// Shapes: x parts x channels x places, bias channels, out channels x places, row-major.
// Launch: two dimensions, x over places and y over channels, any number of blocks and threads.
extern "C" __global__ void bias_clamp(float *out, const float *x, const float *bias, int parts, int channels,
                                      int places, float low, float high)
{
    for (int l = blockIdx.y; l < channels; l += gridDim.y) {
        for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < places; p += blockDim.x * gridDim.x) {
            float v = bias[l];
            for (int z = 0; z < parts; z++)
                v += x[(z * channels + l) * places + p];
            out[l * places + p] = v < low ? low : v > high ? high : v; // a NaN stays, fmaxf would drop it
        }
    }
}
