package interp

import "strings"

// special is a special register. Registers that differ between blocks are filled at the
// start of a block, all others at the start of a launch. A kernel fills only the registers
// that it reads.
type special uint8

// The order decides when a register is filled: up to gridID at the start of a launch, from
// ctaidX on at the start of a block. Registers of one vector are adjacent, in the order x,
// y, z.
const (
	noSpecial special = iota
	tidX
	tidY
	tidZ
	laneID
	warpID
	lanemaskEq
	lanemaskLe
	lanemaskLt
	lanemaskGe
	lanemaskGt
	ntidX
	ntidY
	ntidZ
	nctaidX
	nctaidY
	nctaidZ
	nwarpID
	one
	zero
	staticShared
	dynamicShared
	warpSize
	workspaceLow
	workspaceHigh
	nsmID
	gridID
	ctaidX // this register and the following depend on the block
	ctaidY
	ctaidZ
	smID
)

// specials are the special registers by name, see "Special Registers" in the PTX ISA. A
// cluster has one block.
var specials = map[string]special{
	"%tid.x": tidX, "%tid.y": tidY, "%tid.z": tidZ, "%laneid": laneID, "%warpid": warpID,
	"%lanemask_eq": lanemaskEq, "%lanemask_le": lanemaskLe, "%lanemask_lt": lanemaskLt,
	"%lanemask_ge": lanemaskGe, "%lanemask_gt": lanemaskGt,
	"%ntid.x": ntidX, "%ntid.y": ntidY, "%ntid.z": ntidZ,
	"%nctaid.x": nctaidX, "%nctaid.y": nctaidY, "%nctaid.z": nctaidZ,
	"%nwarpid": nwarpID, "%nsmid": nsmID, "%smid": smID, "%gridid": gridID,
	"%total_smem_size": staticShared, "%aggr_smem_size": staticShared, "%dynamic_smem_size": dynamicShared, "WARP_SZ": warpSize,
	"%ctaid.x": ctaidX, "%ctaid.y": ctaidY, "%ctaid.z": ctaidZ,
	// Each block is a cluster.
	"%clusterid.x": ctaidX, "%clusterid.y": ctaidY, "%clusterid.z": ctaidZ,
	"%nclusterid.x": nctaidX, "%nclusterid.y": nctaidY, "%nclusterid.z": nctaidZ,
	"%cluster_ctaid.x": zero, "%cluster_ctaid.y": zero, "%cluster_ctaid.z": zero, "%cluster_ctarank": zero,
	"%cluster_nctaid.x": one, "%cluster_nctaid.y": one, "%cluster_nctaid.z": one, "%cluster_nctarank": one,
	"%current_graph_exec": zero,
}

// findSpecial resolves special registers that are constant for a block.
func findSpecial(name string) special {
	switch name {
	case "%envreg1":
		return workspaceHigh
	case "%envreg2":
		return workspaceLow
	}
	for _, prefix := range []string{"%envreg", "%pm", "%reserved_smem_offset_"} {
		if strings.HasPrefix(name, prefix) {
			return zero
		}
	}
	if fourthElement(name) {
		return zero
	}
	return specials[name]
}

// fourthElement reports whether a special register is element .w of %tid and similar
// vectors, which is 0.
func fourthElement(name string) bool { return strings.HasSuffix(name, ".w") }

// width returns the bytes of a special register.
func (s special) width(name string) int {
	if s == gridID || name == "%current_graph_exec" || strings.HasPrefix(name, "%pm") && strings.HasSuffix(name, "_64") {
		return 8
	}
	return 4
}

// isIndex reports whether the register is an index or extent of threads or blocks.
func (s special) isIndex() bool {
	return s >= tidX && s <= tidZ || s >= ntidX && s <= nctaidZ || s >= ctaidX && s <= ctaidZ
}

// blockValue returns a special register that depends on the block. Blocks are assigned
// to the multiprocessors in rotation.
func (s special) blockValue(e *engine) uint32 {
	if s == smID {
		return uint32(e.linearBlock() % int64(e.launch.multiprocessors()))
	}
	return e.block[s-ctaidX]
}

// multiprocessors returns the value of %nsmid.
func (l *Launch) multiprocessors() uint32 { return max(l.Multiprocessors, 1) }

// launchValue returns any other special register, for one lane of warp w. Threads are
// numbered with x fastest, and a warp has 32 successive threads.
func (s special) launchValue(w *warp, lane uint32) uint32 {
	l, t := w.eng.launch, w.index*lanes+lane
	switch s {
	case tidX:
		return t % l.Block[0]
	case tidY:
		return t / l.Block[0] % l.Block[1]
	case tidZ:
		return t / l.Block[0] / l.Block[1]
	case laneID:
		return lane
	case warpID:
		return w.index
	case lanemaskEq:
		return 1 << lane
	case lanemaskLe:
		return 2<<lane - 1
	case lanemaskLt:
		return 1<<lane - 1
	case lanemaskGe:
		return -(1 << lane)
	case lanemaskGt:
		return -(2 << lane)
	case ntidX, ntidY, ntidZ:
		return l.Block[s-ntidX]
	case nctaidX, nctaidY, nctaidZ:
		return l.Grid[s-nctaidX]
	case nwarpID:
		return (w.eng.threads + lanes - 1) / lanes
	case one:
		return 1
	case staticShared:
		return w.kernel.sharedStatic + l.Shared
	case dynamicShared:
		return l.Shared
	case warpSize:
		return lanes
	case workspaceLow:
		return uint32(l.workspace)
	case workspaceHigh:
		return uint32(l.workspace >> 32)
	case nsmID:
		return l.multiprocessors()
	case gridID:
		return l.Number
	}
	return 0
}

// fill stores v into all lanes of a register of size bytes.
func fill(w *warp, at slot, size int, v uint64) {
	for i := range lanes {
		w.setLane(element{at, size}, i, v)
	}
}
