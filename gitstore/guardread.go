// What guards ask of a repository beside its runs: new commits with what they
// claim, the history of one file, and what runs hold of single files.

package gitstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NewCommit is a commit that a ref gains.
type NewCommit struct {
	OID     OID
	Parents []OID
	// Trailers are the trailers of its message as git separates them, not unfolded.
	Trailers string
}

// MaxNewCommits bounds the commits that are listed at once. It bounds memory: each
// takes some hundred bytes.
const MaxNewCommits = 500000

// CommitsBeyond lists the commits reachable from tip and from none of the refs that
// except names, parents before children. One git process. more reports that there
// are more than limit; none are returned then.
func (r *Repository) CommitsBeyond(ctx context.Context, tip OID, limit int, except ...string) (list []NewCommit, more bool, err error) {
	args := []string{"-c", "trailer.separators=:", "rev-list", "--topo-order", "--reverse", fmt.Sprintf("--max-count=%d", limit+1),
		"--format=%P%n%(trailers:only)%x00", string(tip), "--not"}
	out, err := r.Git.Run(ctx, nil, append(args, except...)...)
	if err != nil {
		return nil, false, err
	}
	for rest := string(out); rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, "\x00\n")
		head, one, ok := strings.Cut(one, "\n")
		oid, named := strings.CutPrefix(head, "commit ")
		if !ok || !named || !OID(oid).Valid(r.ObjectFormat) {
			return nil, false, errorf(CodeGitFailed, nil, "git rev-list answered %.80q", head)
		}
		if len(list) == limit {
			return nil, true, nil
		}
		parents, trailers, _ := strings.Cut(one, "\n")
		c := NewCommit{OID: OID(oid), Trailers: trailers}
		for p := range strings.FieldsSeq(parents) {
			c.Parents = append(c.Parents, OID(p))
		}
		list = append(list, c)
	}
	return list, false, nil
}

// CommitAlone returns the parents and the message of one commit, without git.
func CommitAlone(ctx context.Context, r *Repository, commit OID) (parents []OID, message string, err error) {
	c, err := readTree(ctx, r).commit(commit)
	if err != nil {
		return nil, "", err
	}
	return c.Parents, c.Message, nil
}

// PathCommits lists the newest commits up to commit that changed a file against one
// of their parents, the newest first.
func (r *Repository) PathCommits(ctx context.Context, commit OID, path string, limit int) ([]OID, error) {
	out, err := r.Git.Run(ctx, nil, "--literal-pathspecs", "rev-list", "--full-history", "--topo-order", fmt.Sprintf("--max-count=%d", limit), string(commit), "--", path)
	if err != nil {
		return nil, err
	}
	var list []OID
	for line := range strings.Lines(string(out)) {
		list = append(list, OID(strings.TrimSpace(line)))
	}
	return list, nil
}

// EntryAt returns what a commit's tree has at a path, without reading it: "" when
// there is nothing.
func EntryAt(ctx context.Context, r *Repository, commit OID, path string) (OID, Mode, error) {
	t := readTree(ctx, r)
	c, err := t.commit(commit)
	if err != nil {
		return "", 0, err
	}
	e, ok, err := t.lookup(c.Tree, path)
	if err != nil || !ok {
		return "", 0, err
	}
	return e.OID, e.Mode, nil
}

// Versions lists what the newest limit operations recorded of a document, each
// content once, the newest first.
func (x *RunRecord) Versions(d wire.Document, limit int) ([]OID, error) {
	var out []OID
	seen := make(map[OID]bool)
	for op := x.Op; op != "" && limit > 0; limit-- {
		c, err := x.rec.r.commit(op)
		if err != nil {
			return nil, err
		}
		e, ok, err := x.rec.r.lookup(c.Tree, docTreePath(d))
		if err != nil {
			return nil, err
		}
		if ok && !seen[e.OID] {
			seen[e.OID] = true
			out = append(out, e.OID)
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return out, nil
}

// HoldsFile reports whether an operation of the run wrote the file, a project path
// below .agentxchain, with this content.
func (x *RunRecord) HoldsFile(name string, content OID) (bool, error) {
	if !safeFilePath(name) {
		return false, nil
	}
	root, err := x.root()
	if err != nil {
		return false, err
	}
	groups, err := x.rec.r.slots(root, treeFiles, true)
	if err != nil {
		return false, err
	}
	for _, g := range groups {
		e, ok, err := x.rec.r.lookup(g, strings.TrimPrefix(name, projectDir+"/"))
		if err != nil || ok && e.OID == content {
			return ok, err
		}
	}
	return false, nil
}

// Config returns the configuration the newest operation was decided under.
func (x *RunRecord) Config() (data []byte, content OID, err error) {
	root, err := x.root()
	if err != nil {
		return nil, "", err
	}
	e, ok, err := x.rec.r.lookup(root, treeConfig)
	if err != nil || !ok || e.IsTree() {
		return nil, "", err
	}
	data, err = x.rec.r.blob(e.OID)
	return data, e.OID, err
}

// ConfigUse is a configuration that operations of a run were decided under.
type ConfigUse struct {
	Op      string // name of the operation that first had it
	Content OID    // of agentxchain.json
	First   bool   // it is the run's first operation
	After   string // the run before this one, its last operation; "" for none
}

// Configs lists the configurations of a run's operations, the newest first, at most
// limit operations back. One is listed again when another came between.
func (x *RunRecord) Configs(limit int) ([]ConfigUse, error) {
	var out []ConfigUse
	for op := x.Op; op != "" && limit > 0; limit-- {
		c, err := x.rec.r.commit(op)
		if err != nil {
			return nil, err
		}
		e, _, err := x.rec.r.lookup(c.Tree, treeConfig)
		if err != nil {
			return nil, err
		}
		use := ConfigUse{Op: trailer(c.Message, trailerOp), Content: e.OID, First: len(c.Parents) == 0, After: trailer(c.Message, trailerPrevious)}
		if n := len(out); n > 0 && out[n-1].Content == use.Content {
			out[n-1] = use
		} else {
			out = append(out, use)
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return out, nil
}

// InitiativeHolds reports whether an initiative of this repository recorded the
// file with this content. known reports that there are initiatives at all.
func InitiativeHolds(ctx context.Context, r *Repository, name string, content OID) (held, known bool, err error) {
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--format=%(objectname)", InitiativeRefPrefix)
	if err != nil {
		return false, false, err
	}
	t := readTree(ctx, r)
	for line := range strings.Lines(string(out)) {
		known = true
		for op, left := OID(strings.TrimSpace(line)), maxInitiativeSteps; op != "" && left > 0; left-- {
			c, err := t.commit(op)
			if err != nil {
				return false, true, err
			}
			e, ok, err := t.lookup(c.Tree, name)
			if err != nil || ok && e.OID == content {
				return ok, true, err
			}
			if op = ""; len(c.Parents) > 0 {
				op = c.Parents[0]
			}
		}
	}
	return false, known, nil
}

// maxInitiativeSteps bounds how far back an initiative's files are looked for.
const maxInitiativeSteps = 5000
