package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-gpu/reprise/verify"
)

// writeWaits prints what happens without each wait of a plan.
func writeWaits(w io.Writer, p *checked) {
	necessary := 0
	for i := range p.Omitted {
		if p.Omitted[i].Without != nil {
			necessary++
		}
	}
	fmt.Fprintf(w, "\n%s/%s: %d of %d waits are necessary\n", p.Asked, p.Backend, necessary, len(p.Omitted))
	for i := range p.Omitted {
		wait := &p.Omitted[i]
		to := wait.To
		if wait.Later > 0 {
			to += " of the next replay"
		}
		fmt.Fprintf(w, "  %s -> %s\n      %s\n", wait.From, to, whyWait(wait))
	}
}

// whyWait returns why a wait is necessary, or why it is not.
func whyWait(wait *verify.Wait) string {
	r := wait.Without
	switch {
	case r == nil && wait.Path != nil:
		return "implied by " + strings.Join(wait.Path, " -> ")
	case r == nil:
		return "a delay: it orders no conflict"
	case r.Buffer == "":
		return "necessary: " + r.Second + " must run after " + r.First
	}
	why := fmt.Sprintf("necessary: %s @%s[%d:%d]", r.Hazard, r.Buffer, r.Lo, r.Hi)
	second := r.Second
	if r.Later > 0 {
		second += " of the next replay"
	}
	if r.First != wait.From || r.Second != wait.To || r.Later != wait.Later {
		why += " of " + r.First + " and " + second
	}
	return why
}
