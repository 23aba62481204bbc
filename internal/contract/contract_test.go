package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
)

func TestHandlesTellWhyOneIsBad(t *testing.T) {
	table := Handles[device.Stream, string]{Kind: "stream"}
	a := table.Add("a")
	b := table.Add("b")
	_, err := table.Remove(a)
	assert.Nil(t, err)
	for h, want := range map[device.Stream]string{
		0: "stream 0 is the zero handle",
		a: "stream 1 has been destroyed",
		3: "stream 3 was never created",
	} {
		_, err := table.Get(h)
		assert.Equal(t, want, err.Detail)
	}
	assert.Equal(t, []device.Stream{b}, table.All())
	assert.Equal(t, 1, table.Len())
}

func TestKindOf(t *testing.T) {
	for want, w := range map[string]device.Work{
		"launch": &device.Launch{}, "copy": &device.Copy{}, "memset": &device.Memset{}, "host call": &device.HostCall{}, "nothing": device.Nothing{}, "": (*device.Copy)(nil),
	} {
		assert.Equal(t, want, KindOf(w))
	}
	assert.Empty(t, KindOf(nil))
}
