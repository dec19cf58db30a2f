//go:build !linux

// Elsewhere git is asked what is configured.

package git

func (r *Repository) CommittedAsIs() (asIs, alone bool) { return false, false }
