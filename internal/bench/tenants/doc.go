// Package tenants measures ways in which several tenants share one device. Each tenant runs the same program with data of
// its own. The ways (modes) are
//
//	exclusive   one tenant alone on the device: one graph
//	time        one context after another; the device is drained in between
//	space       a stream per tenant, launches one by one
//	branches    one graph with a branch per tenant
//	batch       one program for all tenants, where it has a batch: the tenants then share the weights
//	spacetime   one graph whose kernels run all tenants at once (package tenancy)
//
// Requests arrive in rounds, one of each tenant, or at given times. All modes run on the same device, in virtual time on a
// simulated one and in real time on a GPU.
package tenants
