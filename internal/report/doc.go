// Package report makes a page that shows a program and its plans: the graph, a timeline and the times of each plan, memory,
// and why each operation and each edge is where it is. The page is one file that needs no network.
//
//	program ─► plans ─► timelines ─► Data ─► page (JSON and web/dist in one HTML file)
package report
