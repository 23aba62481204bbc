// Package include holds C headers: cuda.h, our declaration of the CUDA driver API, and
// reprise.h, what Reprise's libraries have beside it. Its tests compare cuda.h with
// NVIDIA's, from which it takes names, values and layouts and no text.
package include

import "embed"

// Headers are the files cuda.h and reprise.h.
//
//go:embed cuda.h reprise.h
var Headers embed.FS
