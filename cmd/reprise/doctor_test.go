package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
)

// checkedMachine makes a root folder with the given files. A file whose name is given with a final "!" cannot be opened.
func checkedMachine(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		name, closed := strings.CutSuffix(name, "!")
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		if closed {
			require.NoError(t, os.Chmod(path, 0))
		}
	}
	return root
}

const nvrm = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 12"

var linux = map[string]string{"proc/driver/nvidia/version": nvrm, "dev/nvidiactl": "", "dev/nvidia0": ""}

func TestDoctor(t *testing.T) {
	h200 := device.Info{ID: "gpu0", Name: "NVIDIA H200", ComputeMajor: 9, MemoryBytes: 150e9}
	t.Setenv("REPRISE_LIBCUDA", "")
	lib := driverFacts{Library: "/usr/lib/libcuda.so.1", Version: 12040}
	initFails := func(c device.Code) driverFacts { f := lib; f.Init = c; return f }
	with := func(f driverFacts) driverState { return driverState{Built: true, Driver: f} }
	healthy := driverState{Built: true, Driver: lib, GPUs: []device.Info{h200}, Closed: []bool{false}}
	closed := driverState{Built: true, Driver: lib, GPUs: []device.Info{h200}, Closed: []bool{true}}
	for _, c := range []struct {
		name  string
		files map[string]string
		state driverState
		ok    bool
		says  []string
	}{
		{"all is there", linux, healthy, true, []string{
			"ok       build: with the CUDA driver",
			"ok       kernel module: NVIDIA UNIX x86_64 Kernel Module 550.54.15 Tue Mar 5 22:23:56 UTC 2024",
			"ok       device files: 1 GPUs, and this user may open their files",
			"ok       driver library: /usr/lib/libcuda.so.1",
			"ok       cuInit: CUDA 12.4",
			"ok       gpu0: NVIDIA H200, compute 9.0, 150 GB",
		}},
		{"nothing is there", nil, with(driverFacts{Problem: "libcuda.so.1: cannot open"}), false, []string{
			"MISSING  kernel module: not loaded", "modprobe nvidia",
			"MISSING  device files: there is no /dev/nvidia0",
			"MISSING  driver library: libcuda.so.1: cannot open; install NVIDIA's driver",
		}},
		{"a build that only simulates", linux, driverState{}, false, []string{"MISSING  build: this one only simulates; run `make build` in a clone"}},
		{"the simulator", nil, driverState{Built: true, Driver: driverFacts{Library: "sim", Simulated: true, Version: 12040}, GPUs: []device.Info{h200}}, true,
			[]string{"ok       driver library: the simulator in this program"}},
		{"a GPU without the files that are looked for", nil, healthy, true, []string{"MISSING  device files", "ok       gpu0"}},
		{"one of two GPUs is closed", linux, driverState{Built: true, Driver: lib, GPUs: []device.Info{h200, h200}, Closed: []bool{true, false}}, true,
			[]string{"MISSING  gpu0: NVIDIA H200", "nvidia-smi -i 0 -c 0"}},
		{"a container without GPUs", map[string]string{".dockerenv": ""}, with(lib), false, []string{
			"MISSING  kernel module: not visible in this container; start it with the NVIDIA container toolkit, docker run --gpus all"}},
		{"WSL", map[string]string{"dev/dxg": ""}, healthy, true, []string{"ok       kernel module: of Windows", "ok       device files: /dev/dxg"}},
		{"library and module of different releases", linux, with(initFails(803)), false, []string{"MISSING  cuInit: CUDA_ERROR(803) (803); the library and the kernel module are of different releases"}},
		{"compatibility library", linux, with(initFails(804)), false, []string{"remove cuda-compat"}},
		{"no device", linux, with(initFails(device.NoDevice)), false, []string{"CUDA_VISIBLE_DEVICES"}},
		{"the driver counts none", linux, driverState{Built: true, Driver: lib, Missing: "the driver finds no GPU"}, false, []string{"MISSING  GPUs: the driver finds no GPU"}},
		{"compute mode prohibited", linux, closed, false, []string{"MISSING  gpu0: NVIDIA H200", "nvidia-smi -i 0 -c 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := runDoctor(&out, "", checkedMachine(t, c.files), c.state)
			assert.Equal(t, c.ok, err == nil, "%v\n%s", err, out.String())
			for _, s := range c.says {
				assert.Contains(t, out.String(), s)
			}
			for line := range strings.Lines(out.String()) {
				assert.Regexp(t, `^(ok     |MISSING)  [^:]+: `, line)
			}
		})
	}
}

func TestDoctorSeesFilesThatCannotBeOpened(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may open every file")
	}
	d := deviceFiles(checkedMachine(t, map[string]string{"dev/nvidiactl": "", "dev/nvidia0!": ""}))
	assert.False(t, d.OK)
	assert.Equal(t, "/dev/nvidia0 cannot be opened: permission denied", d.Found)
}

func TestGPUs(t *testing.T) {
	for id, want := range map[string]int{"gpu0": 0, "gpu12": 12, "gpu": -1, "gpu-1": -1, "gpux": -1, "sim:h200": -1, "gpu99999": -1} {
		n, ok := devices.Ordinal(id)
		assert.Equal(t, want >= 0, ok, id)
		if ok {
			assert.Equal(t, want, n)
		}
	}
	_, stderr, status := reprise("bench", "vec", "--device", "gpu0", "--race")
	assert.Equal(t, exitUsage, status, stderr)
	_, stderr, status = reprise("explain", "vec", "--device", "gpu0")
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "gpu0 is a GPU, and this command requires a simulated device")
}

func TestDoctorIsACommand(t *testing.T) {
	stdout, stderr, status := reprise("doctor")
	assert.Contains(t, stdout, "build: ")
	assert.Contains(t, []int{exitOK, exitInput}, status, stderr)
}
