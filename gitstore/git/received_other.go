//go:build !linux

package git

// limitFiles does nothing where the limits of another process cannot be set: the time that a fetch may take is the bound.
func limitFiles(int, int64) {}

func fileLimitMet(string) bool { return false }
