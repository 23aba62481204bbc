// Package irtest makes random valid graphs for the property tests of every
// package that reads or rewrites ir. The same seed gives the same graph.
package irtest
