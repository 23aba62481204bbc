package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestDrawingsAreXML draws operations whose labels have characters that XML lacks, or that it escapes.
func TestDrawingsAreXML(t *testing.T) {
	f, err := ir.Load("g.rir", "graph \"a\\x01<b>\" {\n  buffer @x f32[8] device(0) inout\n"+
		"  %0 = memset @x u32=1 label(\"\\x1b[31mred\\n\\t\\ufffe\")\n  %1 = memset @x u32=1 label(\"</text>&\\\"'\")\n}\n")
	require.NoError(t, err)
	plan, err := optimizer.Plan(f.Graph, optimizer.Options{})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, Draw(plan).WriteSVG(&out))
	for d := xml.NewDecoder(&out); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
