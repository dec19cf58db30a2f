// The shell script that git starts for a hook.

package githooks

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// script is the wrapper of one hook.
type script struct {
	Name   string
	Binary string // absolute path of git-agentxchain; "" in a script that only passes on
	Next   string // path of the earlier hook, which runs first; "" for none
	// Beside is Next relative to the script's directory, for a hook in the checkout or its git directory: it is
	// found again when the checkout is moved.
	Beside string
	// Must: the hook existed at the installation. When it is gone the script refuses: a hook that does not run
	// looks like one that found nothing.
	Must bool
}

// text returns the script. The digest in its second line identifies it, so that an edited script does not count as
// ours.
func (s script) text() string {
	var b strings.Builder
	line := func(format ...string) { b.WriteString(strings.Join(format, "") + "\n") }
	if s.Binary != "" {
		line("bin=", quote(s.Binary))
	}
	switch {
	case s.Beside != "":
		line(`case $0 in */*) here=${0%/*} ;; *) here=. ;; esac`)
		line("beside=", quote(s.Beside))
		line(`next=$here/$beside`)
	case s.Next != "":
		line("next=", quote(s.Next))
	}
	chained := s.Next != "" || s.Beside != ""
	// Standard input from git is read once and passed to both.
	buffered := readsInput(s.Name) && s.Binary != ""
	if buffered {
		line(`input=$(cat; echo x)`)
		line(`input=${input%x}`)
	}
	if chained {
		if s.Must {
			line(`[ -e "$next" ] || [ -h "$next" ] || [ -n "$`, canaryMarker, `" ] || {`)
			line(`	echo "agentxchain: the `, s.Name,
				` hook that was here before is gone from $next; put it back, or do without it: `, s.again(), `" >&2`)
			line(`	exit 1`)
			line(`}`)
		}
		if s.Name == PreReceive {
			line(`if [ -x "$next" ]; then`)
		} else {
			line(`if [ -x "$next" ] && [ -z "$` + canaryMarker + `" ]; then`)
		}
		switch {
		case s.Binary == "":
			line(`	exec "$next" "$@"`)
		case buffered:
			line(`	printf %s "$input" | "$next" "$@" || exit`)
		default:
			line(`	"$next" "$@" || exit`)
		}
		line(`fi`)
	}
	if s.Binary == "" {
		return s.signed(b.String())
	}
	if s.Name == ReferenceTransaction {
		// Most transactions do not concern us, and saving a process is noticeable.
		line(`[ "$1" = prepared ] || exit 0`)
		line(`case $input in`)
		line(`*" refs/heads/"*) ;;`)
		line(`*" refs/agentxchain/"*) [ -z "$` + storeMarker + `" ] || exit 0 ;;`) // git agentxchain itself
		line(`*) exit 0 ;;`)
		line(`esac`)
	}
	line(`[ -x "$bin" ] || bin=$(command -v git-agentxchain) || {`)
	line(`	echo "agentxchain: git-agentxchain is gone, so the `, s.Name,
		` guard cannot judge this; install it again and run: `, s.again(), `" >&2`)
	line(`	exit 1`)
	line(`}`)
	if buffered {
		line(`printf %s "$input" | "$bin" hooks run `, s.Name, ` "$@"`)
	} else {
		line(`exec "$bin" hooks run `, s.Name, ` "$@"`)
	}
	return s.signed(b.String())
}

// again is the command that writes the script again.
func (s script) again() string {
	if s.Name == PreReceive {
		return "git-agentxchain hooks install --server"
	}
	return "git-agentxchain hooks install"
}

// storeMarker is set for every git that git agentxchain starts. It spares a run's own operations a check of what
// was just computed; fsck detects a run forged by setting it by hand.
const storeMarker = "AGENTXCHAIN_STORE"

// canaryMarker is set during a rehearsal of the guards. It excludes hooks that are not ours, which would judge a
// repository that they do not know. Our hooks ignore it.
const canaryMarker = "AGENTXCHAIN_CANARY"

const signature = "# git-agentxchain guard, made by \"git agentxchain hooks install\"; sha256 "

func (s script) signed(body string) string {
	return "#!/bin/sh\n" + signature + wire.SHA256([]byte(body)) + "\n" + body
}

// ours reports whether text is an unchanged script of this program.
func ours(text []byte) bool {
	rest, ok := strings.CutPrefix(string(text), "#!/bin/sh\n"+signature)
	if !ok {
		return false
	}
	digest, body, ok := strings.Cut(rest, "\n")
	return ok && digest == wire.SHA256([]byte(body))
}

// parse reads from a script of ours the hook that it runs first, and the binary that it calls.
func (s script) parse(text []byte) script {
	s.Binary, s.Next, s.Beside = "", "", ""
	for _, m := range assignments().FindAllStringSubmatch(string(text), -1) {
		v := strings.ReplaceAll(m[2], `'\''`, `'`)
		switch m[1] {
		case "bin":
			s.Binary = v
		case "beside":
			s.Beside = v
		default:
			s.Next = v
		}
	}
	s.Must = strings.Contains(string(text), "that was here before is gone from $next")
	return s
}

var assignments = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(bin|next|beside)='((?:[^']|'\\'')*)'$`)
})

// chained returns the path of the hook that a script in dir runs first, or "".
func (s script) chained(dir string) string {
	if s.Beside != "" {
		return filepath.Join(dir, s.Beside)
	}
	return s.Next
}

// quote returns s as one literal shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// looksLikeOurs reports whether a script claims to be ours, changed or not, wherever lines were added. One that was
// taken for the hook of another would be kept as the hook that runs first, and so run itself without an end.
func looksLikeOurs(text []byte) bool {
	return strings.Contains(string(text), "\n"+signature)
}
