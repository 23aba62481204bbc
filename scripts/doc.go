// Package scripts holds shell scripts and their tests.
package scripts
