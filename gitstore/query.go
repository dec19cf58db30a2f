// Small queries on the working ledgers and the settings of the checkout.

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxLedgerLine bounds one row of a ledger; a longer one counts as damaged.
const maxLedgerLine = 16 << 20

// queryBlock is how many bytes of a ledger are read at a time from its end.
const queryBlock = 256 << 10

// LastRow returns the last row of a working ledger whose member key is value, or nil. It reads from the end, so a
// recent row costs one block. It skips lines that do not parse.
func (s *Store) LastRow(ctx context.Context, l wire.Ledger, key, value string) (*run.Line, error) {
	f, err := s.work.Root.Open(l.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be opened", l.Path())
	}
	defer func() { _ = f.Close() }()
	for line, err := range linesBackwards(ctx, f) {
		if err != nil {
			return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", l.Path())
		}
		if !bytes.Contains(line, []byte(value)) {
			continue
		}
		row, err := ojson.DecodeObject(line)
		if err == nil && row.String(key) == value {
			return &run.Line{Raw: bytes.Clone(line), Row: row}, nil
		}
	}
	return nil, nil
}

// TailRows returns up to n parseable rows from the end of a working ledger,
// oldest first; keep selects them and may be nil. n <= 0 means all.
func (s *Store) TailRows(ctx context.Context, l wire.Ledger, n int, keep func(*ojson.Object) bool) ([]run.Line,
	error) {
	f, err := s.work.Root.Open(l.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be opened", l.Path())
	}
	defer func() { _ = f.Close() }()
	var out []run.Line
	for line, err := range linesBackwards(ctx, f) {
		if err != nil {
			return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", l.Path())
		}
		row, err := ojson.DecodeObject(line)
		if err != nil || keep != nil && !keep(row) {
			continue
		}
		out = append(out, run.Line{Raw: bytes.Clone(line), Row: row})
		if n > 0 && len(out) == n {
			break
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, nil
}

// ViewRows is TailRows for the run as v shows it: from the record where the working files are behind, so that all
// reads of a run are at the same operation.
func (s *Store) ViewRows(ctx context.Context, v *View, l wire.Ledger, n int,
	keep func(*ojson.Object) bool) ([]run.Line, error) {
	if v == nil || v.behind == nil {
		return s.TailRows(ctx, l, n, keep)
	}
	var out []run.Line
	for line, err := range v.behind.Rows(l) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if keep != nil && !keep(line.Row) {
			continue
		}
		if out = append(out, line); n > 0 && len(out) > n {
			out = out[1:]
		}
	}
	return out, nil
}

// linesBackwards yields the non-blank lines of f from the last to the first. A yielded line is valid until the next
// one is requested.
func linesBackwards(ctx context.Context, f *os.File) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		end, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			yield(nil, err)
			return
		}
		var rest []byte // start of the block above: the end of a line begun below
		for end > 0 {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := min(int64(queryBlock), end)
			block := make([]byte, n, int(n)+len(rest))
			if _, err := f.ReadAt(block, end-n); err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			end -= n
			block = append(block, rest...)
			for {
				i := bytes.LastIndexByte(block, '\n')
				if i < 0 {
					break
				}
				if line := bytes.TrimSpace(block[i+1:]); len(line) > 0 && !yield(line, nil) {
					return
				}
				block = block[:i]
			}
			if rest = block; len(rest) > maxLedgerLine {
				yield(nil, errors.New("a line is longer than 16 MiB"))
				return
			}
		}
		if line := bytes.TrimSpace(rest); len(line) > 0 {
			yield(line, nil)
		}
	}
}

// MakeDir creates a project-relative directory and its parents; an existing one is left as it is.
func (s *Store) MakeDir(path string) error {
	if err := s.work.Mkdirs(path); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot make the directory %s", path).
			WithHint("%s", fail.WritableHint(s.dir, err))
	}
	return nil
}

// Fingerprint returns the marker of a project-relative path (docs/spec/observation.md#baseline).
func (s *Store) Fingerprint(path string) string { return fingerprint(s.work.Root, path) }

// DefaultBranch returns the branch of HEAD, main when it is detached.
func (s *Store) DefaultBranch(ctx context.Context) string {
	out, err := s.repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return "main"
}
