// Package release states the release that the module is.
package release

// Version is the release; with the suffix -dev, the next release.
const Version = "0.1.0-dev"

// Tool names this module in the files that it writes.
const Tool = "reprise " + Version
