// Package why explains a plan: why an operation, a dependency or a lane is as the plan has it.
//
//	ir.Graph ──► optimizer.Plan ──► Plan ──► Operation, Edge, Lane, Strategy
//
// All times are predictions of the optimizer. Nothing runs on a device.
package why
