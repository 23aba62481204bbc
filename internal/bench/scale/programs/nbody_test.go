package programs

import "testing"

func TestNBody(t *testing.T) {
	requireResults(t, 10, "nbody:333", "nbody:256")
	requireResults(t, 3, "nbody:7")
}
