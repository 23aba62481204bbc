; Kernels as the NVPTX back end of LLVM prints them, which is what clang emits:
;   llc-14 -march=nvptx64 -mcpu=sm_70 llvm.ll -o llvm.ptx
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()

@tile = internal addrspace(3) global [32 x float] undef, align 4
@table = addrspace(4) constant [3 x double] [double 1.0, double 2.5, double -3.0]
@names = global [2 x i8*] [i8* getelementptr ([3 x i8], [3 x i8]* @text, i64 0, i64 1), i8* null]
@text = global [3 x i8] c"ab\00"

; x read, y write
define void @copy(float* %x, float* %y) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, float* %x, i32 %t
  %q = getelementptr float, float* %y, i32 %t
  %v = load float, float* %p
  %w = fadd float %v, 1.5
  store float %w, float* %q
  ret void
}

; x readwrite, through shared memory and a barrier
define void @flip(float* %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, float* %x, i32 %t
  %s = getelementptr [32 x float], [32 x float] addrspace(3)* @tile, i32 0, i32 %t
  %v = load float, float* %p
  store float %v, float addrspace(3)* %s
  call void @llvm.nvvm.barrier0()
  %u = sub i32 31, %t
  %r = getelementptr [32 x float], [32 x float] addrspace(3)* @tile, i32 0, i32 %u
  %w = load float, float addrspace(3)* %r
  store float %w, float* %p
  ret void
}

; v, out and c readwrite: a vector, a device function, atomics
define void @mixed(<4 x float>* %v, double* %out, i32* %c, i1 %flag, i8 %k) {
entry:
  %a = load <4 x float>, <4 x float>* %v
  %b = fmul <4 x float> %a, %a
  br i1 %flag, label %yes, label %no
yes:
  store <4 x float> %b, <4 x float>* %v
  br label %no
no:
  %i = zext i8 %k to i64
  %e = getelementptr [3 x double], [3 x double] addrspace(4)* @table, i64 0, i64 %i
  %d = load double, double addrspace(4)* %e
  %s = call double @scale(double %d, double* %out)
  store double %s, double* %out
  %o = atomicrmw add i32* %c, i32 1 seq_cst
  %x = cmpxchg i32* %c, i32 %o, i32 5 seq_cst seq_cst
  switch i8 %k, label %end [ i8 1, label %one
                             i8 2, label %two ]
one:
  store i32 4, i32* %c
  br label %end
two:
  store volatile i32 6, i32* %c
  br label %end
end:
  ret void
}

; an array of its own, through generic addresses
define void @local(i32* %x, i32 %k) {
  %a = alloca [8 x i32]
  %p = getelementptr [8 x i32], [8 x i32]* %a, i32 0, i32 %k
  store volatile i32 3, i32* %p
  %q = getelementptr [8 x i32], [8 x i32]* %a, i32 0, i32 2
  %v = load volatile i32, i32* %q
  store i32 %v, i32* %x
  ret void
}

define internal double @scale(double %d, double* %p) noinline {
  %v = load double, double* %p
  %w = fmul double %v, %d
  ret double %w
}

!nvvm.annotations = !{!0, !1, !2, !3, !4}
!0 = !{void (float*, float*)* @copy, !"kernel", i32 1}
!1 = !{void (float*, i32)* @flip, !"kernel", i32 1}
!2 = !{void (<4 x float>*, double*, i32*, i1, i8)* @mixed, !"kernel", i32 1}
!3 = !{void (i32*, i32)* @local, !"kernel", i32 1}
!4 = !{void (float*, float*)* @copy, !"maxntidx", i32 128}
