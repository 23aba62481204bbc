package ptx

import (
	"strconv"
	"strings"
)

// specialRegisters maps the names of the read-only registers of the ISA to their canonical
// names, see "Special Registers" in the PTX ISA. Those with axes are written with .x, .y, .z or
// .w, or with the colours .r, .g, .b or .a. The value of .w is 0.
var specialRegisters = func() map[string]string {
	known := map[string]string{}
	for _, name := range strings.Fields(`
		%laneid %warpid %nwarpid %smid %nsmid %gridid %clock %clock_hi %clock64
		%globaltimer %globaltimer_lo %globaltimer_hi
		%lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt
		%dynamic_smem_size %total_smem_size %aggr_smem_size %is_explicit_cluster
		%cluster_ctarank %cluster_nctarank %current_graph_exec
		%reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap
		%reserved_smem_offset_0 %reserved_smem_offset_1`) {
		known[name] = name
	}
	for _, name := range strings.Fields(`%tid %ntid %ctaid %nctaid
		%clusterid %nclusterid %cluster_ctaid %cluster_nctaid`) {
		for i, axis := range axes {
			known[name+axis] = name + axis
			known[name+colours[i]] = name + axis
		}
	}
	for n := range 32 {
		name := "%envreg" + strconv.Itoa(n)
		known[name] = name
	}
	for n := range 8 {
		name := "%pm" + strconv.Itoa(n)
		known[name], known[name+"_64"] = name, name+"_64"
	}
	return known
}()

// axes and colours are the two ways to name the elements of a vector.
var (
	axes    = [...]string{".x", ".y", ".z", ".w"}
	colours = [...]string{".r", ".g", ".b", ".a"}
)

// warpSize is the constant WARP_SZ.
const warpSize = 32

// specialRegister returns the canonical name of a special register, or "".
func specialRegister(name string) string {
	if name[0] != '%' {
		return ""
	}
	return specialRegisters[name]
}

// specialVector reports whether name, without an axis, is a vector of special registers.
func specialVector(name string) bool { return name[0] == '%' && specialRegisters[name+".x"] != "" }

// specialType returns the type of a special register: .pred, or an unsigned
// integer.
func specialType(name string) Type {
	switch name {
	case "%is_explicit_cluster":
		return Pred
	case "%gridid", "%clock64", "%globaltimer", "%current_graph_exec":
		return U64
	}
	if strings.HasPrefix(name, "%pm") && strings.HasSuffix(name, "_64") {
		return U64
	}
	return U32
}

// narrowSpecial reports whether a mov may read only the low bits of a special
// register. This holds for those that had fewer bits in PTX 1.x.
func narrowSpecial(name string) bool {
	switch base, _, _ := strings.Cut(name, "."); base {
	case "%tid", "%ntid", "%ctaid", "%nctaid", "%gridid":
		return true
	}
	return false
}
