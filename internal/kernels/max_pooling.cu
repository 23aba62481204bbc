// max_pooling: out[q][i][j] = greatest x[q][i * stride - pad + di][j * stride - pad + dj] over 0 <= di, dj < side
// inside of the image. pad is less than side, so that every window has such a pixel.
// Shapes: x planes x rows x cols, out planes x high x wide with high = (rows + 2 * pad - side) / stride + 1, and wide
// likewise of cols, row-major.
// Launch: two dimensions, x over the pixels of a plane of out and y over planes, any number of blocks and threads.
extern "C" __global__ void max_pooling(float *out, const float *x, int planes, int rows, int cols, int side, int stride,
                                       int pad)
{
    int high = (rows + 2 * pad - side) / stride + 1, wide = (cols + 2 * pad - side) / stride + 1;
    int places = high * wide;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < places; p += blockDim.x * gridDim.x) {
        int top = p / wide * stride - pad, left = p % wide * stride - pad;
        int from_row = max(top, 0), to_row = min(top + side, rows), from_col = max(left, 0), to_col = min(left + side, cols);
        for (int q = blockIdx.y; q < planes; q += gridDim.y) {
            const float *image = x + q * rows * cols;
            float most = image[from_row * cols + from_col];
            for (int row = from_row; row < to_row; row++)
                for (int col = from_col; col < to_col; col++) {
                    float v = image[row * cols + col];
                    most = v <= most ? most : v; // a NaN stays, fmaxf would drop it
                }
            out[q * places + p] = most;
        }
    }
}
