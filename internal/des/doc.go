// Package des is the discrete-event core that tells how long GPU work takes:
// a virtual clock, the profiles of devices, and a fluid model of kernels,
// copies and host calls that share one GPU. The simulated device drives it
// with the demands of kernels it has executed, the optimizer with estimates,
// so both predict with the same arithmetic. It imports nothing of this module
// but the names of the units.
package des
