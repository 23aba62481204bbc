package interp

import (
	"os"
	"testing"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// FuzzRun lowers and runs every module that the parser accepts: the result is a fault or a
// success, never a panic. Memory is small and steps are few.
func FuzzRun(f *testing.F) {
	if src, err := os.ReadFile("testdata/kernels.ptx"); err == nil && len(src) < 200_000 {
		f.Add(string(src[:8000]))
	}
	f.Add(faultSource("bar.sync 0; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; atom.global.add.u32 %r4, [%rd1], 1; ret;"))
	f.Add(faultSource("setp.lt.u32 %p1, %r2, 3; @%p1 bra a; b: add.u32 %r3, %r3, 1; a: @!%p1 bra b; ret;"))
	f.Add(faultSource("mov.b64 {%r3,%r4}, %rd1; cvt.rni.f32.f32 %f1, %f2; vote.sync.all.pred %p1, %p2, -1; selp.b32 %r3, 1, %r4, %p1;"))
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 20_000 {
			return
		}
		m, err := ptx.Parse("fuzz.ptx", src)
		if err != nil {
			return
		}
		mem := NewMemory(1 << 20)
		mod, err := LoadModule(mem, m)
		if err != nil {
			return
		}
		data, _ := mem.Alloc(256, "data")
		for _, fn := range m.Funcs {
			if !fn.Entry || fn.Extern {
				continue
			}
			k, err := mod.Kernel(fn.Name)
			if err != nil || k.ParamBytes() > 4096 || k.localSize > 4096 {
				continue
			}
			p := make([]byte, k.ParamBytes())
			copy(p, params(data, data))
			_, _ = k.Run(mem, Launch{Grid: dims(2, 1, 1), Block: dims(33, 1, 1), Params: p, StepLimit: 2000})
		}
	})
}
