package interp

import "unsafe"

// Blocks of a cooperative launch synchronise in a workspace of the driver, whose address
// %envreg1 and %envreg2 hold, high word first: the barriers that nvcc compiles count
// arrivals in its second word. It is not memory of the program, so records and lists of
// touched memory exclude it.
const (
	workspaceAddress = 0x1_0000_0000 // below all allocations
	workspaceBytes   = 4096
)

// prepareWorkspace zeroes the workspace and returns its address.
func (m *Memory) prepareWorkspace() uint64 {
	if m.workspace == nil {
		a := &allocation{base: workspaceAddress, size: workspaceBytes, owner: m, name: "the workspace of cooperative launches",
			words: make([]uint64, workspaceBytes/8)}
		a.data = unsafe.Pointer(&a.words[0])
		m.workspace = a
		m.allocs.insert(a)
	}
	clear(m.workspace.words)
	return workspaceAddress
}
