// Package graph implements the driver's graphs independently of the driver: nodes and edges that
// can be edited until the graph is destroyed, clones that record their
// originals, and the rule by which one graph may update an instance of another.
//
// The parameters of a node are opaque here, except for the graphs in them. The package
// can therefore be tested without C.
package graph
