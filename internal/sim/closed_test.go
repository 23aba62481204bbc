package sim

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// No method of a closed device panics, and every method of device.Device that can fail reports that the device has been
// closed.
func TestMethodsOfClosedDevice(t *testing.T) {
	typ := reflect.TypeFor[*Device]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		t.Run(m.Name, func(t *testing.T) {
			_, required := reflect.TypeFor[device.Device]().MethodByName(m.Name)
			d, err := New(Options{})
			require.NoError(t, err)
			require.NoError(t, d.Close())
			args := []reflect.Value{reflect.ValueOf(d)}
			for in := 1; in < m.Type.NumIn(); in++ {
				args = append(args, reflect.Zero(m.Type.In(in)))
				if m.Type.In(in) == reflect.TypeFor[context.Context]() {
					args[in] = reflect.ValueOf(t.Context())
				}
			}
			call := m.Func.Call
			if m.Type.IsVariadic() {
				call = m.Func.CallSlice
			}
			var results []reflect.Value
			require.NotPanics(t, func() { results = call(args) })
			for _, r := range results {
				if err, ok := r.Interface().(error); ok && required {
					assert.Equal(t, device.Deinitialized, device.CodeOf(err), err.Error())
				}
			}
		})
	}
}
