package model

import "github.com/reprise-gpu/reprise/internal/absent"

// Of returns the profile of a device, by its method Profile() *Profile. It is nil for a device without one, such as a
// GPU.
func Of(dev any) *Profile {
	if d, ok := dev.(interface{ Profile() *Profile }); ok && !absent.Is(dev) {
		return d.Profile()
	}
	return nil
}
