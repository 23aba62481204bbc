// Package figure draws comparisons as SVG and PNG in the style of the figures of the GrCUDA paper: a panel per
// workload with the speedup at each size, bars for overlaps, and the geometric mean as a dashed line.
package figure
