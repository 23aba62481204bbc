// Package profiles holds the profiles of known devices, with a source for every figure. [Lookup] finds one by its ID.
// [Figures] lists the figures of a profile with their bounds, and [File] is a profile as a file, where each figure has
// an origin. docs/PROFILE.md describes files, and docs/DEVICES.md the profiles.
package profiles
