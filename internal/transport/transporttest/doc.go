// Package transporttest checks implementations of transport.Transport. A check is a function that every rank runs, so
// that ranks can be goroutines or processes. Unsteady makes any transport slow, and loses messages and ranks.
package transporttest
