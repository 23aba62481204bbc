// Package gorgonia runs the tests that gorgonia.org/cu has of itself on the simulated driver.
//
// They come from the module cache, in the version that go.mod names, and see the simulator
// through the trampolines of lazycuda, as package cuda does. Each keeps its thread, which is
// all that is changed. testdata/expected.txt says what each must do; `make gorgonia-test`
// runs them, and `make test-cuda` all but one, which takes minutes.
package gorgonia
