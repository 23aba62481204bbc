package access

import "github.com/reprise-gpu/reprise/internal/ptx"

// ParamInfo describes one parameter of a kernel, as needed to fill the parameter block.
type ParamInfo struct {
	Index   int    `json:"index"`
	Name    string `json:"name"`
	Type    string `json:"type"`   // "u64", or "b8[24]" for a struct
	Size    int    `json:"size"`   // bytes
	Offset  int    `json:"offset"` // bytes into the parameter block
	Pointer bool   `json:"pointer"`
}

// Signature returns the parameters of f. A parameter is a pointer if f or a function that
// it calls uses it as an address, or if it has the attribute .ptr. The result is nil if m
// or f is nil.
func Signature(m *ptx.Module, f *ptx.Func) []ParamInfo {
	if m == nil || f == nil {
		return nil
	}
	pointers := map[int]bool{}
	for _, p := range Infer(m, f).Params {
		if !p.ReadAt.IsZero() || !p.WriteAt.IsZero() {
			pointers[p.Param] = true
		}
	}
	list := make([]ParamInfo, len(f.Params))
	for i, v := range f.Params {
		scalar := len(v.Dims) == 0
		list[i] = ParamInfo{
			Index: i, Name: v.Name, Type: v.TypeString(), Size: int(v.Size()), Offset: v.Offset,
			Pointer: v.Ptr.Present || scalar && pointers[i],
		}
	}
	return list
}
