package beside

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRethrow(t *testing.T) {
	ends := func(f func()) (how string) {
		done := make(chan string, 1)
		go func() {
			how := "exited"
			defer func() {
				if v := recover(); v != nil {
					how = "panicked with " + v.(string)
				}
				done <- how
			}()
			r := Start(f)
			<-r.Ended()
			r.Rethrow()
			how = "returned"
		}()
		return <-done
	}
	assert.Equal(t, "returned", ends(func() {}))
	assert.Equal(t, "exited", ends(runtime.Goexit))
	assert.Equal(t, "panicked with that", ends(func() { panic("that") }))
}
