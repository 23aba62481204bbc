package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Every opcode that can name memory is analysed as such, or refused where it does.
func TestTransfersCoverMemory(t *testing.T) {
	for name, kind := range transfers {
		switch kind {
		case transferMem, transferCheck, transferAll:
		default:
			require.False(t, ptx.NamesMemory(name), name)
		}
	}
}
