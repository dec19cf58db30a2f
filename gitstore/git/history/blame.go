// git blame as data: which commit each line of a file came from.

package history

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LineRange is a range of lines, inclusive, counted from 1. To is 0 for the end of the file.
type LineRange struct{ From, To int }

// BlameCommit is a commit that lines came from.
type BlameCommit struct {
	OID     object.OID // all zeros for uncommitted lines
	Author  string
	Email   string
	Time    time.Time // author time, in the author's zone
	Summary string
}

// Uncommitted reports whether the lines are only in the work tree.
func (c *BlameCommit) Uncommitted() bool { return strings.Trim(string(c.OID), "0") == "" }

// BlameLine is one line of a file as it is in the work tree.
type BlameLine struct {
	Number   int          // in the current file, from 1
	Original int          // in the commit's file, from 1
	Path     string       // path in the commit, from the root of the work tree
	Previous string       // path in the previous commit; "" when the file was not there
	Commit   *BlameCommit // the same pointer for every line of the commit
	Text     string       // without its line feed
	Guessed  bool         // git skipped an ignored commit and guessed
}

// Blame asks git which commits the lines of a file came from. name is relative to the root of the work tree;
// without ranges it returns every line. git's configuration of blame (ignored revisions) applies. It starts one git
// process.
//
// Errors: not_found when git does not know the file, invalid_argument when a range is outside it.
func Blame(ctx context.Context, r *git.Repository, name string, ranges []LineRange) ([]BlameLine, error) {
	args := []string{"blame", "--porcelain", "--root", "--no-textconv", "--encoding=UTF-8"}
	for _, l := range ranges {
		to := ""
		if l.To > 0 {
			to = strconv.Itoa(l.To)
		}
		args = append(args, fmt.Sprintf("-L%d,%s", l.From, to))
	}
	out, err := r.Git.In(r.TopLevel).Run(ctx, nil, append(args, "--", name)...)
	if err != nil {
		return nil, explainBlame(name, err)
	}
	return parseBlame(out, r.ObjectFormat)
}

func explainBlame(name string, err error) error {
	msg := git.ComplaintOf(err)
	switch {
	case strings.Contains(msg, "has only "):
		_, n, _ := strings.Cut(msg, "has only ")
		n, _, _ = strings.Cut(n, " ")
		return fail.Errorf(wire.CodeInvalidArgument, nil, "%s ends at line %s", name, n)
	case strings.Contains(msg, "no such path"), strings.Contains(msg, "no such ref: HEAD"),
		strings.Contains(msg, "bad revision 'HEAD'"):
		return fail.Errorf(wire.CodeNotFound, nil, "git has no history of %s: it has never been committed", name).
			WithHint("git status shows whether it is ignored or only not added yet")
	case strings.Contains(msg, "annot lstat"), strings.Contains(msg, "annot stat"):
		return fail.Errorf(wire.CodeNotFound, nil, "%s is not in the work tree", name)
	}
	return err
}

// parseBlame reads git blame's porcelain format.
func parseBlame(out []byte, format string) ([]BlameLine, error) {
	bad := func(line []byte) error {
		return fail.Errorf(fail.CodeGitFailed, nil, "git blame answered %q", git.ClipBytes(line))
	}
	commits := make(map[object.OID]*BlameCommit)
	type place struct{ path, previous string }
	places := make(map[object.OID]place) // the last one given; git repeats it when it changes
	var lines []BlameLine
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{'\n'})
		f := strings.Fields(string(head))
		if !ok || len(f) < 3 || !object.OID(f[0]).Valid(format) && strings.Trim(f[0], "0") != "" {
			return nil, bad(head)
		}
		original, err1 := strconv.Atoi(f[1])
		number, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || original < 1 || number < 1 {
			return nil, bad(head)
		}
		id := object.OID(f[0])
		c := commits[id]
		if c == nil {
			c = &BlameCommit{OID: id}
			commits[id] = c
		}
		l := BlameLine{Number: number, Original: original, Commit: c}
		at, previous, zone, seconds := places[id], "", "", int64(0)
		named := false
		for out = rest; ; {
			line, rest, ok := bytes.Cut(out, []byte{'\n'})
			if !ok {
				return nil, bad(line)
			}
			out = rest
			if len(line) > 0 && line[0] == '\t' {
				l.Text = string(line[1:])
				break
			}
			key, value, _ := strings.Cut(string(line), " ")
			switch key {
			case "author":
				c.Author = value
			case "author-mail":
				c.Email = strings.TrimSuffix(strings.TrimPrefix(value, "<"), ">")
			case "author-time":
				seconds, _ = strconv.ParseInt(value, 10, 64)
			case "author-tz":
				zone = value
				c.Time = time.Unix(seconds, 0).In(parseZone(zone))
			case "summary":
				c.Summary = value
			case "previous":
				_, p, _ := strings.Cut(value, " ")
				previous = unquotePath(p)
			case "filename":
				at, named = place{unquotePath(value), ""}, true
			case "ignored", "unblamable":
				l.Guessed = true
			}
		}
		if named {
			at.previous = previous
			places[id] = at
		}
		l.Path, l.Previous = at.path, at.previous
		if l.Path == "" {
			return nil, bad(head)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// parseZone reads "+0130"; anything else is UTC.
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) != 5 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// unquotePath undoes git's C-style quoting of names.
func unquotePath(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if j := strings.IndexByte(`abtnvfr`, s[i]); j >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[j])
			continue
		}
		if i+3 <= len(s) {
			if n, err := strconv.ParseUint(s[i:i+3], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ShallowCommits returns the commits at which a shallow clone's history ends; nil in a complete clone. git reads
// another file if its environment names one, as in the hooks of a push.
func ShallowCommits(r *git.Repository) map[object.OID]bool {
	name := filepath.Join(r.CommonDir, "shallow")
	if given := r.Git.Var("GIT_SHALLOW_FILE"); filepath.IsAbs(given) {
		name = given
	} else if given != "" {
		name = filepath.Join(r.Git.Dir, given)
	}
	data, err := git.ReadConfigFile(name) // rejects pipes and endless files
	if err != nil {
		return nil
	}
	cut := make(map[object.OID]bool)
	for line := range strings.Lines(string(data)) {
		cut[object.OID(strings.TrimSpace(line))] = true
	}
	return cut
}
