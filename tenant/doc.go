// Package tenant serves many tenants that run the same program on one device, each with memory of its own, such as a
// network with weights of its own for each.
//
//	pool := tenant.NewPool(dev, tenant.Options{})
//	for _, trace := range traces {                       // one for each tenant, of the same program
//		t, err := pool.Add(trace)
//		...
//	}
//	err := t.Submit(ctx, 10*time.Millisecond)            // from any goroutine; returns when the run has ended
//
// Requests that wait at the same time run together: one launch of each kernel serves all of them. A GPU that is too large
// for one tenant is filled by several, and its dispatcher has one kernel to start where it had one for each. The idea is
// that of dynamic space-time scheduling (P. Jain et al., 2018) for matrix products; here it works for any program whose
// kernels can be rewritten.
//
// Programs that differ in an operation, a kernel or a scalar run side by side on streams of their own.
package tenant
