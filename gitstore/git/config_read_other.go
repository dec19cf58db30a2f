//go:build !linux

package git

// readConfig leaves the question to git: where its files lie on other systems is not
// followed here.
func readConfig(*Git, *LocalScope) (ConfigList, bool) { return nil, false }

func configuredHooks(*Git, *LocalScope) (string, bool) { return "", false }
