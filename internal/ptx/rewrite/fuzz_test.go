package rewrite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// FuzzRewrite rewrites the kernels of every module that the parser accepts. The result must
// parse, which a rewrite checks: a result that does not is a refusal, and its only legitimate
// reasons are limits, whose messages count bytes or registers, and the target or version of
// another part of a fusion.
func FuzzRewrite(f *testing.F) {
	for _, pattern := range []string{"../../kernels/s*.ptx", "../testdata/*.ptx", "../../sim/testdata/instr/b*.ptx", "../../sim/testdata/instr/call*.ptx"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		m, err := ptx.Parse("fuzz.ptx", text)
		if err != nil {
			return
		}
		for _, fn := range m.Funcs {
			if !fn.Entry || fn.Extern || fn.Alias != "" {
				continue
			}
			k := corpusKernel{file: "fuzz", module: m, kernel: fn}
			for _, r := range k.rewrites() {
				refusal := (*Refusal)(nil)
				if r.err == nil {
					again, err := ptx.Parse("again.ptx", r.result.Text)
					require.NoError(t, err)
					require.Equal(t, r.result.Text, again.String())
					require.Len(t, r.result.Params, len(again.Func(r.result.Kernel).Params))
				} else if errors.As(r.err, &refusal) && refusal.invalid {
					require.Regexp(t, `\d (bytes|bits|registers)|\.target|\.version`, refusal.Reason, "%s\n%s", r.name, text)
				} else {
					require.False(t, strings.Contains(r.err.Error(), "BUG"))
				}
			}
		}
	})
}
