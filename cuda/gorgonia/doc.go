// Package gorgonia runs the tests of gorgonia.org/cu on the simulated driver.
//
// The tests come from the module cache, in the version that go.mod requires. They call the simulator
// through the trampolines of lazycuda, as package cuda does. The only change is that each test keeps its OS thread.
// testdata/expected.txt lists the expected result of each test. `make gorgonia-test`
// runs all tests, and `make test-cuda` all except one that takes minutes.
package gorgonia
