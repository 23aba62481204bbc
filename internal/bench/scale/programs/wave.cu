// wave: the wave equation in two dimensions, as finite differences of second order.
// Launch: blocks of 64 x 4 threads, a thread for each element: x over columns and y over rows.

// wave_step: up = 2 u - up + the Laplacian of u for rows first <= y < last, where up is the wave one step before u and becomes
// that one step after it. cy and cx are (dt / dy)^2 and (dt / dx)^2. Shapes: up and u rows x cols, row-major. Outside of the
// borders u continues with its value there, so nothing flows out.
extern "C" __global__ void __launch_bounds__(256) wave_step(float *up, const float *u, int first, int last, int rows, int cols,
                                                            float cy, float cx)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= last)
        return;
    int i = y * cols + x;
    float here = u[i];
    float above = u[max(y - 1, 0) * cols + x], below = u[min(y + 1, rows - 1) * cols + x];
    float left = u[y * cols + max(x - 1, 0)], right = u[y * cols + min(x + 1, cols - 1)];
    float laplacian = cy * (above + below - 2 * here) + cx * (left + right - 2 * here);
    up[i] = 2 * here - up[i] + laplacian;
}
