//go:build cuda && cgo

package simabi

// #include <stdlib.h>
// #include <cuda.h>
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// driverVersion is the result of cuDriverGetVersion: CUDA 12.4, the first with
// conditional nodes.
const driverVersion = 12040

// gpu is one simulated GPU.
type gpu struct {
	slot    int // position in $REPRISE_SIM, which determines its PCI bus and its UUID
	ordinal int // position among the visible GPUs, by which programs select it
	profile *model.Profile
	memory  int64 // bytes
	sim     *sim.GPU
	sample  int64 // blocks of each launch that are run, 0 for all
	race    sim.Race
	primary primary

	firstPool *pool // the default pool; nil until its first use
	pool      *pool // the pool of cuMemAllocAsync, nil for the default pool
}

// open creates a device for a context on the GPU.
func (g *gpu) open(c *context) (*sim.Device, error) {
	return sim.New(sim.Options{Custom: g.profile, On: g.sim, Sample: g.sample, Race: g.race, Outside: outside})
}

// plug creates the GPUs that $REPRISE_SIM lists, or those of a rank of $REPRISE_SIM_MACHINE, with the settings
// $REPRISE_SIM_SAMPLE and $REPRISE_SIM_RACE, and returns those that $CUDA_VISIBLE_DEVICES selects, in its order. slot
// numbers all GPUs, ordinal the visible ones.
func plug() ([]*gpu, error) {
	sample, err := sampled(getenv("REPRISE_SIM_SAMPLE"))
	if err != nil {
		return nil, err
	}
	race := sim.RaceOff
	if getenv("REPRISE_SIM_RACE") != "" {
		race = sim.RaceOn
	}
	source, list := "REPRISE_SIM", getenv("REPRISE_SIM")
	var gpus []*gpu
	if name := getenv("REPRISE_SIM_MACHINE"); name != "" {
		source, list = "REPRISE_SIM_MACHINE", name
		gpus, err = plugMachine(name)
	} else {
		if list == "" {
			list = "h200"
		}
		gpus, err = plugList(list)
	}
	if err != nil {
		return nil, err
	}
	for _, g := range gpus {
		g.sample, g.race = sample, race
	}
	if named, ok := lookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		if gpus = visible(gpus, named); len(gpus) == 0 {
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES=%s leaves none of the GPUs of %s=%s visible", named, source, list)
		}
	}
	return gpus, nil
}

// getenv returns a variable of the environment, "" if it is not set.
func getenv(name string) string {
	value, _ := lookupEnv(name)
	return value
}

// lookupEnv reads the program's current environment. Go's copy in a library is from
// the start of the program and lacks the variables that the program has set since.
func lookupEnv(name string) (value string, ok bool) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	at := C.getenv(s)
	return C.GoString(at), at != nil
}

// sampled returns the number of blocks of each launch to run, 0 for all: see
// sim.Options.Sample.
func sampled(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("REPRISE_SIM_SAMPLE=%s: write a number of blocks, 1 or more, or 0 for all", text)
	}
	return n, nil
}

// gpuOf returns the GPU of an ordinal.
func gpuOf(d C.CUdevice) (*gpu, error) {
	if d < 0 || int(d) >= len(driver.gpus) {
		return nil, status(C.CUDA_ERROR_INVALID_DEVICE)
	}
	return driver.gpus[d], nil
}

// sim_cuInit reads the environment in the first call, and creates the GPUs. Later calls have no effect. A mistake in
// the environment is always explained on standard error, because the code alone does not name the variable.
//
//export sim_cuInit
func sim_cuInit(flags C.uint) C.CUresult {
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if flags != 0 {
		return result(invalidValue)
	}
	if driver.ready {
		return C.CUDA_SUCCESS
	}
	gpus, err := plug()
	if err != nil {
		fmt.Fprintln(os.Stderr, "libcudasim:", explanation(C.CUDA_ERROR_NO_DEVICE, err)) // even if not verbose
		return C.CUDA_ERROR_NO_DEVICE
	}
	driver.ready, driver.gpus = true, gpus
	return C.CUDA_SUCCESS
}

//export sim_cuDriverGetVersion
func sim_cuDriverGetVersion(version *C.int) C.CUresult {
	if version == nil {
		return refused(invalidValue)
	}
	*version = driverVersion
	return C.CUDA_SUCCESS
}
