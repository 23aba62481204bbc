// nvcc -fatbin -gencode arch=compute_52,code=compute_52 -gencode 'arch=compute_75,code=[sm_75,compute_75]'
// makes packed.fatbin, and with -Xfatbin --compress=false plain.fatbin. store_NN.ptx
// are from nvcc -ptx -arch=compute_NN.
extern "C" __global__ void store(float *to, float what, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 750
    what = what + 1;
#endif
    for (int k = i; k < n; k += gridDim.x * blockDim.x)
        to[k] = what;
}
