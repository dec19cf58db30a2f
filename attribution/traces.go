// What a commit contains of the work of turns, line by line.

package attribution

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Trace is what one commit contains of the work of turns.
type Trace struct {
	Commit object.OID
	Files  []*TraceFile
}

// TraceFile is a file of a trace.
type TraceFile struct {
	Path  string
	Turns []*Turn
	Lines []Span // of the file in that commit, that came with it; none for non-text
}

// Span is an inclusive range of lines; the first line of a file is 1.
type Span struct{ First, Last int }

// Bounds of line-by-line comparison.
const (
	maxTraced   = 1 << 20 // bytes of a file
	tracedBatch = 200     // commits whose files are held at once
)

// Turns returns the accepted turns recorded here, oldest first. Errors: record_missing when there are none, and the
// errors of reading the recorded runs.
func Turns(ctx context.Context, repo *git.Repository) ([]*Turn, error) {
	b, err := readBook(ctx, repo, &Query{}, nil)
	if err != nil {
		return nil, err
	}
	if len(b.turns) == 0 {
		return nil, recordMissing(ctx, repo, "HEAD")
	}
	var out []*Turn
	for _, t := range slices.Backward(b.turns) {
		if !t.Active() {
			out = append(out, t)
		}
	}
	return out, nil
}

// Contents yields the files that the turn declares, by path from the root, with their contents at acceptance:
// "sha256:HEX", a word where there were no contents, "" where that was not recorded.
func (t *Turn) Contents() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, p := range t.files {
			m, _ := t.mark(p)
			if !yield(p, m) {
				return
			}
		}
	}
}

// Baseline returns the commit on which the turn began, "" when unknown.
func (t *Turn) Baseline() object.OID { return t.baseline }

// Traces returns the traces of a range, one for each commit with files of turns.
func (r *Range) Traces(ctx context.Context, repo *git.Repository) ([]*Trace, error) {
	var all []*tracing
	for _, c := range r.Commits {
		t := &tracing{Trace: Trace{Commit: c.OID}}
		for _, f := range c.Files {
			if len(f.Turns) > 0 && f.How != "" {
				t.add(f.Path, f.entry, f.Turns)
			}
		}
		all = append(all, t)
	}
	return readTraces(ctx, repo, all)
}

// Checkpoints returns the traces of turns in the commits with their work. A turn whose commit is not in this clone
// has none.
func Checkpoints(ctx context.Context, repo *git.Repository, turns []*Turn) ([]*Trace, error) {
	var names []string
	for _, t := range turns {
		for _, p := range t.files {
			if id := t.commitOf(p); id != "" && !slices.Contains(names, string(id)) {
				names = append(names, string(id))
			}
		}
	}
	var there []string
	if err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		if o.Found && o.Kind == object.KindCommit {
			there = append(there, names[i])
		}
	}); err != nil {
		return nil, err
	}
	found, err := diffs(ctx, repo, slices.Clone(there))
	if err != nil {
		return nil, err
	}
	var all []*tracing
	for _, id := range there {
		t := &tracing{Trace: Trace{Commit: object.OID(id)}}
		for _, turn := range turns {
			for _, p := range turn.files {
				if e, ok := found[id][p]; ok && turn.commitOf(p) == t.Commit {
					t.add(p, e, []*Turn{turn})
				}
			}
		}
		all = append(all, t)
	}
	return readTraces(ctx, repo, all)
}

// tracing is a trace whose lines are not known yet.
type tracing struct {
	Trace
	entries []entry
}

func (t *tracing) add(path string, e entry, turns []*Turn) {
	if e.new == "" || !e.regular() {
		return // nothing of it is left, or it has no lines
	}
	t.Files = append(t.Files, &TraceFile{Path: path, Turns: turns})
	t.entries = append(t.entries, e)
}

// readTraces finds the lines, and drops traces without files.
func readTraces(ctx context.Context, repo *git.Repository, all []*tracing) ([]*Trace, error) {
	all = slices.DeleteFunc(all, func(t *tracing) bool { return len(t.Files) == 0 })
	out := make([]*Trace, 0, len(all))
	for batch := range slices.Chunk(all, tracedBatch) {
		var names []string
		texts := make(map[object.OID]string)
		for _, t := range batch {
			for _, e := range t.entries {
				for _, id := range []object.OID{e.old, e.new} {
					if _, ok := texts[id]; id != "" && !ok {
						texts[id] = ""
						names = append(names, string(id))
					}
				}
			}
		}
		if err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
			if len(o.Data) <= maxTraced && !bytes.Contains(o.Data, []byte{0}) {
				texts[object.OID(names[i])] = string(o.Data)
			}
		}); err != nil {
			return nil, err
		}
		for _, t := range batch {
			for i, e := range t.entries {
				t.Files[i].Lines = newLines(texts[e.old], texts[e.new])
			}
			out = append(out, &t.Trace)
		}
	}
	return out, nil
}

// newLines lists the lines of after that before lacks; when the two differ too much to be aligned, all from the
// first difference to the last.
func newLines(before, after string) []Span {
	a, b := splitLines(before), splitLines(after)
	hunks, ok := difference(a, b)
	if !ok {
		head := 0
		for head < min(len(a), len(b)) && a[head] == b[head] {
			head++
		}
		tail := 0
		for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
			tail++
		}
		return []Span{{head + 1, len(b) - tail}}
	}
	var out []Span
	for _, h := range hunks {
		if h.come > 0 {
			out = append(out, Span{h.at + 1, h.at + h.come})
		}
	}
	return out
}
