// The few git settings that shape terminal output.

package cli

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// gitConfig asks git for the named variables as seen from dir, in one process. Outside a repository
// git still answers with the user's own settings. Any failure counts as "nothing set", since
// colours are not worth an error.
func gitConfig(ctx context.Context, dir string, names ...string) map[string]string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strings.ReplaceAll(n, ".", `\.`)
	}
	out := runner.GitConfig(ctx, dir, "^("+strings.Join(quoted, "|")+")$")
	if out == nil {
		return nil
	}
	return parseGitConfig(string(out))
}

// parseGitConfig reads the output of git config --null: key, line feed, value, NUL. A variable
// without a value ("[color] ui") has no line feed and means true. The last occurrence wins, as in
// git.
func parseGitConfig(out string) map[string]string {
	values := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if entry == "" {
			continue
		}
		name, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		values[strings.ToLower(name)] = value
	}
	return values
}
