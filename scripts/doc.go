// Package scripts holds what is run outside of Go, and the tests of that.
package scripts
