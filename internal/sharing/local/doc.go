// Package local runs the programs of one process on one device, in the order that a sharing.Policy decides.
//
// Each program has a stream. A grant is submitted to it with an event behind it, and the host reports the end of a grant
// to the core when the event has completed:
//
//	Arrive ─► core ─► Launch: Work.Submit, event ─► Await ─► core ─► …
//
// On a simulated device the host's clock is the device's virtual one, and Await lets it pass. On a GPU, Await sleeps until
// the next predicted end and then polls.
package local
