//go:build !linux

// On other systems the configuration is asked of git.

package git

func (r *Repository) CommittedAsIs() (asIs, alone bool) { return false, false }
