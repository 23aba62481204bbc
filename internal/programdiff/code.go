package programdiff

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// codes has the short hashes of kernels, by the PTX of their module and their name.
type codes map[[2]string]string

// of returns a short hash of a kernel: of its PTX and of all in its module that is no other kernel, without comments. Of a
// module that cannot be parsed, it is a hash of the source.
func (c codes) of(source, kernel string) string {
	key := [2]string{source, kernel}
	if hash, ok := c[key]; ok {
		return hash
	}
	h := fnv.New64a()
	if m, err := ptx.Parse("", source); err == nil {
		one := *m
		one.Funcs = slices.DeleteFunc(slices.Clone(m.Funcs), func(f *ptx.Func) bool {
			return f.Entry && f.Name != kernel && f != m.Func(kernel)
		})
		ptx.Print(h, &one)
	} else {
		h.Write([]byte(source))
	}
	c[key] = fmt.Sprintf("%016x", h.Sum64())
	return c[key]
}
