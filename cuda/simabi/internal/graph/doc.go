// Package graph is the driver's graphs without the driver: nodes and edges that
// may be edited until the graph is destroyed, clones that remember what they are
// clones of, and the rule by which one graph may update an instance of another.
//
// What a node does is opaque here, except where that contains graphs. So all of
// it can be tested without C.
package graph
