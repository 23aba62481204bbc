// Package dim holds the extents of grids and blocks, which packages ir and device share.
package dim

import "fmt"

// Dim3 is the extent of a grid in blocks, or of a block in threads.
type Dim3 struct{ X, Y, Z uint32 }

// Count returns the product of the extents.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }
