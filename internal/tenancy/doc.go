// Package tenancy runs the same program for many tenants on one device, each with memory of its own.
//
// Programs of equal signature form a cohort: same operations, kernels and scalars, other buffers. A round runs the program
// for several members of a cohort in one graph, in which every kernel is rewritten to run all instances in one launch
// (package internal/ptx/rewrite). Which tenants take part is decided by a table of addresses that the host writes before
// each round:
//
//	slots   │ row of A │ row of C │ 0 │ 0 │        size 4, two members
//	             │
//	row of A     └► │ arguments of node 0 │ of node 1 │ of node 2 │ …
//
// This is dynamic space-time scheduling (P. Jain et al., "Dynamic Space-Time Scheduling for GPU Inference", 2018), for
// whole programs instead of single matrix products.
//
// A Server is used by one goroutine. Package tenant has the interface for programs.
package tenancy
