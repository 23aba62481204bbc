// Package parts holds what graphexec and graphexec/loop share: command lists, mailboxes, names of operations, limits,
// and Replays, the view of an instantiated schedule that loops need and users do not.
package parts
