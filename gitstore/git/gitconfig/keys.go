// The effect of each key of git's configuration, by git-config(1) and the manuals of the commands.

package gitconfig

import (
	"slices"
	"strings"
)

// Class is the effect of setting a key.
type Class int

const (
	KeyHarmless Class = iota // how git behaves towards the person at the keyboard, or another tool's key
	keyShape                 // what git sees, where it writes, who acts
	KeyProgram               // git, or git-lfs for it, starts its value
)

// programKeys lists keys that name programs: section, and name without case; "" is every name. off is the value
// that starts nothing unusual, for keys that our own calls of git encounter.
var programKeys = []struct {
	section, name, off string
	met                bool
}{
	{"filter", "clean", "", true},
	{"filter", "smudge", "", true},
	{"filter", "process", "", true},
	{"filter", "required", "false", true},
	{"core", "fsmonitor", "false", false},               // pinned, see fixedPins
	{"core", "hookspath", "", false},                    // pinned
	{"core", "sshcommand", "ssh", true},                 //
	{"core", "gitproxy", "", true},                      // FirstCounts
	{"core", "askpass", "", true},                       //
	{"core", "editor", "", false},                       // GIT_EDITOR
	{"core", "pager", "", false},                        // GIT_PAGER
	{"core", "alternaterefscommand", "true", true},      //
	{"sequence", "editor", "", false},                   // GIT_SEQUENCE_EDITOR
	{"credential", "helper", "", true},                  //
	{"gpg", "program", "gpg", true},                     // of a format: see offValue
	{"gpg", "defaultkeycommand", "", true},              //
	{"remote", "uploadpack", "git-upload-pack", true},   // FirstCounts
	{"remote", "receivepack", "git-receive-pack", true}, // FirstCounts
	{"remote", "vcs", "", true},
	{"protocol", "allow", "user", true},
	{"hook", "", "", true},                // switched off by hook.NAME.enabled
	{"gc", "recentobjectshook", "", true}, // by gc.auto and maintenance.auto
	{"lfs", "clean", "", true},            // lfs.extension.NAME
	{"lfs", "smudge", "", true},
	{"lfs", "path", "", true}, // lfs.customtransfer.NAME
	{"lfs", "args", "", true},
	{"lfs", "standalonetransferagent", "", true},
	{"diff", "external", "", false}, // --no-ext-diff
	{"diff", "command", "", false},
	{"diff", "textconv", "", false},          // --no-textconv
	{"interactive", "difffilter", "", false}, // the rest belong to commands we do not run
	{"merge", "driver", "", false},
	{"mergetool", "cmd", "", false},
	{"mergetool", "path", "", false},
	{"difftool", "cmd", "", false},
	{"difftool", "path", "", false},
	{"browser", "cmd", "", false},
	{"browser", "path", "", false},
	{"man", "cmd", "", false},
	{"man", "path", "", false},
	{"tar", "command", "", false},
	{"trailer", "command", "", false},
	{"trailer", "cmd", "", false},
	{"uploadpack", "packobjectshook", "", false},
	{"submodule", "update", "", false},
	{"imap", "tunnel", "", false},
	{"sendemail", "", "", false},
	{"alias", "", "", false},
	{"pager", "", "", false},
	{"guitool", "", "", false},
	{"instaweb", "", "", false},
	{"web", "browser", "", false},
	{"help", "browser", "", false},
	{"include", "", "", false}, // includes more configuration
	{"includeif", "", "", false},
}

// gitSections are the sections that git, git-lfs and this program read. A key in them that is not in harmlessKeys
// changes what git does.
var gitSections = []string{
	"add", "agentxchain", "alias", "am", "apply", "attr", "author", "blame", "branch", "browser", "bundle", "checkout",
	"clean",
	"clone", "commit", "commitgraph", "committer", "completion", "core", "credential", "credentialcache", "diff",
	"difftool",
	"extensions", "fastimport", "feature", "fetch", "filter", "format", "fsck", "fsmonitor", "gc", "gitcvs", "gitweb",
	"gpg",
	"grep", "gui", "guitool", "hook", "http", "i18n", "imap", "include", "includeif", "index", "init", "instaweb",
	"interactive",
	"lfs", "log", "lsrefs", "mailinfo", "mailmap", "maintenance", "man", "merge", "mergetool", "notes", "pack",
	"pager", "pretty",
	"promisor", "protocol", "pull", "push", "rebase", "receive", "reftable", "remote", "remotes", "repack", "rerere",
	"reset",
	"revert", "safe", "sendemail", "sendpack", "sequence", "showbranch", "sparse", "splitindex", "ssh", "stash",
	"status",
	"submodule", "tag", "tar", "trace2", "trailer", "transfer", "uploadarchive", "uploadpack", "url", "user",
	"versionsort",
	"web", "worktree", "help",
}

// harmlessKeys lists keys of gitSections that ordinary work writes, or that only change what a person is shown; "*"
// is every name of a section.
var harmlessKeys = map[string][]string{
	"advice": {"*"}, "color": {"*"}, "column": {"*"},
	"branch": {"remote", "merge", "rebase", "pushremote", "description", "autosetupmerge", "autosetuprebase", "sort",
		"vscode-merge-base", "gh-merge-base", "github-pr-owner-number"},
	"remote": {"gh-resolved", "prune", "prunetags", "tagopt", "skipdefaultupdate", "skipfetchall"},
	"core":   {"quotepath", "abbrev", "whitespace", "preloadindex", "untrackedcache", "commentchar", "compression"},
	"push":   {"default", "autosetupremote", "followtags"},
	"pull":   {"rebase", "ff"},
	"fetch":  {"prune", "prunetags", "parallel", "output"},
	"rebase": {"autosquash", "autostash", "stat", "abbreviatecommands"},
	"rerere": {"enabled", "autoupdate"},
	"merge":  {"conflictstyle", "ff", "log", "stat"},
	"diff": {"algorithm", "renames", "renamelimit", "colormoved", "colormovedws", "mnemonicprefix", "noprefix",
		"context", "statgraphwidth"},
	"log":       {"date", "decorate", "abbrevcommit", "follow", "graphcolors"},
	"commit":    {"verbose", "status"},
	"status":    {"short", "branch", "showstash", "aheadbehind", "relativepaths"},
	"init":      {"defaultbranch"},
	"submodule": {"url", "active", "branch"},
	"lfs":       {"access", "locksverify", "repositoryformatversion"},
	"gui":       {"wmstate", "geometry"},
}

// Lower writes a key as git compares it: section and name in lower case.
func Lower(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// SplitKey splits a lowered key.
func SplitKey(key string) (section, sub, name string) {
	section, name, _ = strings.Cut(key, ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		sub, name = name[:i], name[i+1:]
	}
	return section, sub, name
}

// ClassOf returns the effect of setting a key.
func ClassOf(key string) Class {
	section, _, name := SplitKey(key)
	for _, p := range programKeys {
		if p.section == section && (p.name == "" || p.name == name) {
			return KeyProgram
		}
	}
	if names := harmlessKeys[section]; slices.Contains(names, name) || slices.Contains(names, "*") {
		return KeyHarmless
	}
	if slices.Contains(gitSections, section) {
		return keyShape
	}
	return KeyHarmless // another tool's key: git does not read it
}

// OffValue returns the value for a program key when nothing outside the repository sets it; false when our own
// calls of git do not encounter the key.
func OffValue(key string) (string, bool) {
	section, sub, name := SplitKey(key)
	for _, p := range programKeys {
		if p.section != section || p.name != "" && p.name != name {
			continue
		}
		switch {
		case section == "gpg" && sub == "x509":
			return "gpgsm", true
		case section == "gpg" && sub == "ssh" && name == "program":
			return "ssh-keygen", true
		case section == "protocol" && sub == "ext":
			return "never", true
		}
		return p.off, p.met
	}
	return "", false
}

// FirstCounts reports whether git uses the first value of a program key instead of the last: settings on the
// command line come too late.
func FirstCounts(key string) bool {
	section, _, name := SplitKey(key)
	return section == "remote" && (name == "uploadpack" || name == "receivepack") || section == "core" && name == "gitproxy"
}
