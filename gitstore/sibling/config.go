// The parts of git's configuration file that describe a repository's format, read without git: nothing that it
// names is looked up or run.

package sibling

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// gitConfig holds the last value of each key, written section.key or section.sub.key, section and key in lower
// case. A key without "=" is true.
type gitConfig map[string]string

// parseGitConfig parses the file format of git-config(1). Like git it refuses a malformed file.
func parseGitConfig(data []byte) (gitConfig, error) {
	entries, err := gitconfig.Parse(data)
	if err != nil {
		return nil, err
	}
	cfg := make(gitConfig, len(entries))
	for _, e := range entries {
		cfg[e.Key] = e.Value
	}
	return cfg, nil
}

// format returns how the repository stores objects and refs.
func (c gitConfig) format() (objects, ref string, err error) {
	objects, ref = object.FormatSHA1, "files"
	switch v := c["core.repositoryformatversion"]; v {
	case "", "0":
		return objects, ref, nil // git then ignores such extensions
	case "1":
	default:
		return "", "", fmt.Errorf("its format version is %s", git.ClipBytes([]byte(v)))
	}
	if v, ok := c["extensions.objectformat"]; ok {
		objects = v
	}
	if v, ok := c["extensions.refstorage"]; ok {
		ref = v
	}
	if object.HexLen(objects) == 0 || ref != "files" && ref != "reftable" {
		return "", "", fmt.Errorf("it stores objects as %s and refs as %s", git.ClipBytes([]byte(objects)),
			git.ClipBytes([]byte(ref)))
	}
	return objects, ref, nil
}
