// Package figure draws comparisons, as SVG and PNG, in the manner of the figures of the
// GrCUDA paper: a panel for each workload with the speedup at each size, bars for what
// overlaps, and the geometric mean as a dashed line.
package figure
