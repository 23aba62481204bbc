package main

import (
	"context"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// TestRowsSurviveARunThatDoesNotEnd interrupts a run that is in the middle of a row and does not return.
func TestRowsSurviveARunThatDoesNotEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cobra.Command{}
	c.SetContext(ctx)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	rows, err := watchedRows(c, "rows", func(_ context.Context, update progressFunc, row func(int)) error {
		row(1)
		row(2)
		cancel()
		<-never
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []int{1, 2}, rows)
}
