// layer computes y[i] = max(w[i]*x[i], 0) for i < n.
extern "C" __global__ void layer(const float *w, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(w[i] * x[i], 0.f);
}
