//go:build !linux

package git

// limitFiles does nothing where the limits of another process cannot be set: only the time of a fetch is bounded.
func limitFiles(int, int64) {}

func fileLimitMet(string) bool { return false }
