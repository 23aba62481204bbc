package shares

import (
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

var boundNames = map[sharing.Bound]string{sharing.Unknown: "unknown", sharing.Compute: "compute", sharing.Memory: "memory"}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
