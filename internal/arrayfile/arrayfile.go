// Package arrayfile reads and writes the elements of a buffer as a file. The end of the name selects the format:
//
//	.npy          an array of NumPy, in C order; its type must be that of the elements
//	.txt, .csv    decimal numbers, separated by white space or commas
//	anything else the bytes of the elements, little-endian, without a header
package arrayfile

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// Decode returns the bytes of the n elements of type t that the file contains. The error does not name the file.
func Decode(name string, t ir.Type, n int64, file []byte) (data []byte, err error) {
	switch ext(name) {
	case ".npy":
		data, err = decodeNPY(t, file)
	case ".txt", ".csv":
		data, err = decodeText(t, file)
	default:
		if want := n * t.Size(); int64(len(file)) != want {
			return nil, fmt.Errorf("it has %d bytes, and %d elements of %v have %d: as raw data, a file has exactly these", len(file), n, t, want)
		}
		return file, nil
	}
	if got := int64(len(data)) / t.Size(); err == nil && got != n {
		return nil, fmt.Errorf("it has %d elements, and %d are needed", got, n)
	}
	return data, err
}

// Encode returns the file with the elements of type t in data. The error does not name the file.
func Encode(name string, t ir.Type, data []byte) ([]byte, error) {
	switch ext(name) {
	case ".npy":
		return encodeNPY(t, data)
	case ".txt", ".csv":
		return encodeText(t, data), nil
	}
	return data, nil
}

func ext(name string) string { return strings.ToLower(filepath.Ext(name)) }
