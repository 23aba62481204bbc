package validation

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device"
)

// Row is one measured time of one kernel launch.
type Row struct {
	ID     string
	Set    string // the collection that the row belongs to
	Kernel string
	Class  string // what bounds the kernel on the GPU: "bandwidth", "compute"; see LaunchClass
	GPU    string

	Profile string // ID of a known profile, or the name of a file in profiles/ that ends in .json
	PTX     string // name of a file in ptx/
	Entry   string
	Grid    device.Dim3
	Block   device.Dim3
	Shared  uint32 // dynamic shared memory, bytes
	Args    []Argument
	Mode    Mode
	Sample  int64 // blocks of a launch that the simulator runs; 0 is all

	MeasuredUS float64
	Spread     float64 // standard deviation of the measured times divided by their mean; 0 if unknown

	Repo, Commit string // where the time was published
	File         string // the file with the time, in Repo
	Source       string // the file with the kernel, in Repo
	Note         string
}

// LaunchClass is the class of rows that measure launches rather than kernels: those under 10 us. Summaries over all
// rows leave it out.
const LaunchClass = "launch"

// extent formats the extent of a grid or block without trailing ones: "8 4".
func extent(d device.Dim3) string {
	text := fmt.Sprintf("%d %d %d", d.X, d.Y, d.Z)
	for strings.HasSuffix(text, " 1") {
		text = strings.TrimSuffix(text, " 1")
	}
	return text
}
