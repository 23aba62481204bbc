package unit_test

import (
	"encoding/json"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// ExampleWork counts the instructions of a kernel by unit.
func ExampleWork() {
	var w unit.Work
	w[unit.FP32] = 2048
	w[unit.Memory] = 96
	text, _ := json.Marshal(w)
	fmt.Println(string(text))
	// Output: {"fp32":2048,"memory":96}
}
