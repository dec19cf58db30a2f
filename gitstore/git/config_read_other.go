//go:build !linux

package git

// readConfig leaves the question to git: the locations on other systems are not implemented here.
func readConfig(*Git, *LocalScope) (ConfigList, bool) { return nil, false }

func configuredHooks(*Git, *LocalScope) (string, bool) { return "", false }
