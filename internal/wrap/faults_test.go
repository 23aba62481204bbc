package wrap_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

func TestFaultsGiveNoResultWithAnError(t *testing.T) {
	d := wrap.Faults(null.New(), wrap.FailCall(0, device.OutOfMemory))
	p, host, err := d.AllocHost(10)
	assert.Zero(t, p)
	assert.Nil(t, host)
	assert.EqualError(t, err, "AllocHost: CUDA_ERROR_OUT_OF_MEMORY (2): injected fault at call 0")
	_, err = d.Alloc(10)
	assert.NoError(t, err)
}

// answers is what a sequence of calls is answered.
func answers(fail func(int, string) device.Code, methods ...string) (codes []device.Code) {
	for i, m := range methods {
		codes = append(codes, fail(i, m))
	}
	return codes
}

func TestWaysToFail(t *testing.T) {
	const oom, bad = device.OutOfMemory, device.LaunchFailed
	for _, c := range []struct {
		name string
		fail func(int, string) device.Code
		want []device.Code
	}{
		{"one call", wrap.FailCall(1, oom), []device.Code{0, oom, 0, 0, 0, 0}},
		{"the second of a method", wrap.FailNth("Submit", 1, oom), []device.Code{0, 0, oom, 0, 0, 0}},
		{"a lost device", wrap.FailFrom(2, bad), []device.Code{0, 0, bad, bad, bad, 0}},
		{"work, which shows at the next wait", wrap.FailWork(1, bad), []device.Code{0, 0, 0, bad, bad, 0}},
		{"work of a call that enqueues none", wrap.FailWork(0, bad), []device.Code{0, 0, 0, 0, 0, 0}},
	} {
		assert.Equal(t, c.want, answers(c.fail, "Alloc", "Submit", "Submit", "Synchronize", "CreateEvent", "Close"), c.name)
	}
}

// ExampleFaults tests the error path of a program: its second call into the device fails.
func ExampleFaults() {
	dev := wrap.Faults(null.New(), wrap.FailCall(1, device.OutOfMemory))
	defer dev.Close()

	_, err := dev.Alloc(4)
	check(err)
	_, err = dev.Alloc(4)
	fmt.Println(device.CodeOf(err) == device.OutOfMemory)
	// Output: true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
