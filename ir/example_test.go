package ir_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/ir"
)

// ExampleVerifySchedule parses a graph with a schedule that lacks a wait.
func ExampleVerifySchedule() {
	file, err := ir.Parse("g.rir", `
graph g {
  buffer @x f32[1024] device(0) temporary
  %0 = memset @x u32=0
  %1 = memset @x[2048:4096] u32=1
  deps reduced {
    %0 -> %1 waw @x[2048:4096]
  }
}

schedule wrong lanes(2) {
  %0 lane(0)
  %1 lane(1)
}
`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ir.VerifySchedule(file.Schedule))
	// Output: %1 on lane 1 does not wait for %0 on lane 0 (waw @x[2048:4096]): add wait(%0) (rule dependencies)
}
