// Package loop repeats a schedule until a scalar that it computes ends the loop. The host or the device evaluates the
// condition: see [Lowering].
package loop
