// Package des is the discrete-event core that predicts how long GPU work takes. It has a virtual clock, profiles of
// devices, and a fluid model of kernels, copies and host calls that share one GPU. The simulated device uses it with
// the demands of kernels that it has executed, the optimizer with estimates, so that both predict with the same
// arithmetic. Of this module it imports only the names of the units and the heap.
package des
