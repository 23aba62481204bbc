package interp

import "strings"

// special is a special register. Those that differ between blocks are filled
// when a block begins, all others when a launch does.
type special uint8

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
	ctaidX // the block's own from here on
	ctaidY
	ctaidZ
)

var specials = map[string]special{
	"%tid.x": tidX, "%tid.y": tidY, "%tid.z": tidZ, "%laneid": laneID, "%warpid": warpID,
	"%lanemask_eq": lanemaskEq, "%lanemask_le": lanemaskLe, "%lanemask_lt": lanemaskLt,
	"%lanemask_ge": lanemaskGe, "%lanemask_gt": lanemaskGt,
	"%ntid.x": ntidX, "%ntid.y": ntidY, "%ntid.z": ntidZ,
	"%nctaid.x": nctaidX, "%nctaid.y": nctaidY, "%nctaid.z": nctaidZ,
	"%nwarpid": nwarpID, "%nsmid": one, "%smid": zero, "%gridid": zero,
	"%total_smem_size": staticShared, "%dynamic_smem_size": dynamicShared, "WARP_SZ": warpSize,
	"%ctaid.x": ctaidX, "%ctaid.y": ctaidY, "%ctaid.z": ctaidZ,
}

// findSpecial knows the special registers that hold still while a block runs.
func findSpecial(name string) special {
	switch {
	case name == "%envreg1":
		return workspaceHigh
	case name == "%envreg2":
		return workspaceLow
	case strings.HasPrefix(name, "%envreg"):
		return zero
	}
	return specials[name]
}

// blockValue is a special register that depends on the block.
func (s special) blockValue(block [3]uint32) uint32 { return block[s-ctaidX] }

// launchValue is any other special register, for one lane of warp w.
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
	}
	return 0
}

// fill stores v into all lanes of a register of size bytes.
func fill(w *warp, at slot, size int, v uint64) {
	for i := range lanes {
		w.setLane(element{at, size}, i, v)
	}
}
