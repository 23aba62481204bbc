// Package include holds two C headers: cuda.h, our declaration of the CUDA driver API, and
// reprise.h, the additional functions of Reprise's libraries. Tests compare cuda.h with
// NVIDIA's header. It has the same names, values and layouts, but no text of NVIDIA's.
package include

import "embed"

// Headers are the files cuda.h and reprise.h.
//
//go:embed cuda.h reprise.h
var Headers embed.FS
