//go:build cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The log is of the driver's compiler, with its spacing.
func TestCompilerErrorNamesTheFile(t *testing.T) {
	log := []byte("ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'bogus'\n" +
		"ptxas fatal   : Ptx assembly aborted due to errors\n\x00\x00")
	assert.Equal(t, "module a$1.ptx: a$1.ptx:6: error   : Not a name of any known instruction: 'bogus'\n"+
		"ptxas fatal   : Ptx assembly aborted due to errors", compilerError("a$1.ptx", "invalid", log))
	assert.Equal(t, "module a.ptx: invalid", compilerError("a.ptx", "invalid", make([]byte, 8)))
}
