// im2col: out = the windows of a convolution as the columns of a matrix, 0 where a window leaves its image.
// out[(l * side + di) * side + dj][(s * high + i) * wide + j] = x[l][s][i * stride - pad + di][j * stride - pad + dj]
// over 0 <= di, dj < side, with high = (rows + 2 * pad - side) / stride + 1, and wide likewise of cols.
// Shapes: x channels x images x rows x cols, out (channels * side * side) x (images * high * wide), row-major.
// Launch: two dimensions, x over columns of out and y over channels, any number of blocks and threads.
extern "C" __global__ void im2col(float *out, const float *x, int channels, int images, int rows, int cols, int side,
                                  int stride, int pad)
{
    int high = (rows + 2 * pad - side) / stride + 1, wide = (cols + 2 * pad - side) / stride + 1;
    int places = images * high * wide;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < places; p += blockDim.x * gridDim.x) {
        int s = p / (high * wide), i = p / wide % high, j = p % wide;
        int top = i * stride - pad, left = j * stride - pad;
        for (int l = blockIdx.y; l < channels; l += gridDim.y) {
            const float *image = x + (l * images + s) * rows * cols;
            float *column = out + l * side * side * places + p;
            for (int di = 0; di < side; di++)
                for (int dj = 0; dj < side; dj++) {
                    int row = top + di, col = left + dj;
                    bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
                    column[(di * side + dj) * places] = inside ? image[row * cols + col] : 0.0f;
                }
        }
    }
}
