// Changes that an agent made to git's configuration, judged key by key.

package tamper

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
)

// config judges a configuration file key by key.
func (t *Tampering) config(name string, was, is watched) {
	if bytes.Equal(was.data, is.data) && was.kind == is.kind {
		return
	}
	before, _ := gitconfig.Parse(was.data)
	after, err := gitconfig.Parse(is.data)
	if err != nil {
		t.change("%s is no longer a configuration file of git", name)
		t.files = append(t.files, name)
		return
	}
	a, b := valuesOf(before), valuesOf(after)
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var bad []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		switch {
		case slices.Equal(a[key], b[key]):
		case gitconfig.ClassOf(key) == gitconfig.KeyHarmless || harmlessRemote(key, a, b):
			t.note("%s in %s was changed", key, name)
		default:
			bad = append(bad, key)
		}
	}
	if len(bad) > 0 {
		t.change("%s in %s", strings.Join(bad, ", "), name)
		t.files = append(t.files, name)
	}
}

func valuesOf(entries []gitconfig.Entry) map[string][]string {
	out := make(map[string][]string)
	for _, e := range entries {
		out[e.Key] = append(out[e.Key], e.Value)
	}
	return out
}

// harmlessRemote reports whether a setting belongs to an entirely new remote with no more than "git remote add"
// writes: an address with an ordinary protocol, fetched below the name of the remote.
func harmlessRemote(key string, before, after map[string][]string) bool {
	section, sub, name := gitconfig.SplitKey(key)
	if section != "remote" || sub == "" {
		return false
	}
	for k := range before {
		if strings.HasPrefix(k, "remote."+sub+".") {
			return false
		}
	}
	values := after[key]
	switch name {
	case "url":
		return len(values) == 1 && !strings.Contains(values[0], "::") && !strings.HasPrefix(values[0], "-")
	case "fetch":
		return len(values) == 1 && values[0] == "+refs/heads/*:refs/remotes/"+sub+"/*"
	}
	return false
}

// withHarmless returns the old configuration file plus what ordinary work has added.
func withHarmless(was, is []byte) []byte {
	before, _ := gitconfig.Parse(was)
	after, err := gitconfig.Parse(is)
	if err != nil {
		return was
	}
	a, b := valuesOf(before), valuesOf(after)
	out := slices.Clone(was)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	done := make(map[string]bool)
	for _, e := range after {
		if done[e.Key] || len(a[e.Key]) > 0 || gitconfig.ClassOf(e.Key) != gitconfig.KeyHarmless &&
			!harmlessRemote(e.Key, a, b) {
			continue // also for a key that had another value: only new keys are added
		}
		done[e.Key] = true
		section, sub, name := gitconfig.SplitKey(e.Key)
		header := "[" + section + "]\n"
		if strings.Count(e.Key, ".") > 1 {
			header = "[" + section + " " + quoteConfig(sub) + "]\n"
		}
		for _, v := range b[e.Key] {
			out = append(out, header+"\t"+name+" = "+quoteConfig(v)+"\n"...)
		}
	}
	return out
}

func quoteConfig(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(v) + `"`
}
