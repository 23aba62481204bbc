package ptx

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSharedModulesEndWithTheirHolders expects one module for a source while it is held, another for another file, and none
// once nobody holds it.
func TestSharedModulesEndWithTheirHolders(t *testing.T) {
	text := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
	key := source{"a.ptx", text}
	a, err := ParseShared("a.ptx", text)
	require.NoError(t, err)
	again, err := ParseShared("a.ptx", strings.Clone(text))
	require.NoError(t, err)
	assert.Same(t, a, again)
	b, err := ParseShared("b.ptx", text)
	require.NoError(t, err)
	assert.NotSame(t, a, b)
	_, err = ParseShared("a.ptx", text+"}")
	assert.Error(t, err)
	assert.Same(t, a, held(key))
	runtime.KeepAlive(a)
	runtime.KeepAlive(again)
	assert.Eventually(t, func() bool {
		runtime.GC()
		inUse.Lock()
		defer inUse.Unlock()
		_, found := inUse.modules[key]
		return !found
	}, time.Minute, time.Millisecond)
}
