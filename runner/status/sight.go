// A run seen from outside, its gates, and the files of an artifact.

package status

import (
	"bufio"
	"context"
	"iter"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// Sight is a run seen from outside: where it stands, and every gate.
type Sight struct {
	Standing
	Gates []gate.Standing // in the order of the phases
}

// See is Stand with every gate.
func (p Project) See(ctx context.Context, v *gitstore.View) (*Sight, error) {
	st, err := p.Stand(ctx, v, nil)
	if err != nil {
		return nil, err
	}
	s := &Sight{Standing: *st}
	s.Gates, err = Gates(p.Dir, v)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Gates evaluates every gate of the configuration on the present files, in the order of the phases.
func Gates(dir string, v *gitstore.View) ([]gate.Standing, error) {
	var out []gate.Standing
	for _, phase := range v.Config.Phases() {
		g, err := gate.Stand(dir, v, phase)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out = append(out, *g)
		}
	}
	return out, nil
}

// maxDocument bounds agentxchain.json and state.json.
const maxDocument = 64 << 20

// OfFiles is See for the files of a run laid out in dir without a repository: a replayed artifact.
// It leaves out what depends on the machine of a run: whether agents are at work, what is trusted,
// what is committed.
//
// Errors: invalid_json, invalid_config and invalid_state about the files.
func OfFiles(ctx context.Context, dir string, now time.Time) (*Sight, error) {
	cfg, err := projectfile.Read(dir, wire.ConfigPath, maxDocument)
	if err != nil {
		return nil, err
	}
	if cfg == nil {
		return nil, &wire.Error{
			Code:    "not_a_project",
			Field:   wire.ConfigPath,
			Message: "There is no " + wire.ConfigPath + " in " + dir + ".",
		}
	}
	v := &gitstore.View{}
	if v.Config, v.ConfigProblems, err = config.Decode(cfg); err != nil {
		return nil, err
	}
	if v.StateBytes, err = projectfile.Read(dir, string(wire.DocState), maxDocument); err != nil {
		return nil, err
	}
	if v.StateBytes == nil {
		v.StateBytes = run.FreshState(v.Config, "").Encode()
	}
	raw, perr := run.DecodeState(v.StateBytes)
	if perr != nil {
		return nil, perr
	}
	v.RawState = raw
	v.State, v.StateNotes = run.RepairState(raw, v.Config)
	if p := run.CheckState(v.State); len(p) > 0 {
		return nil, run.StateError(p)
	}
	v.Run = v.State.Run()
	v.Index = run.BuildIndex(v.Config, v.State, rowsBelow(dir))
	p := Project{Dir: dir, Now: now.UTC().Truncate(time.Millisecond)}
	return p.See(ctx, v)
}

// rowsBelow reads the ledgers in a directory row by row, and skips what does not parse as a row.
func rowsBelow(dir string) run.LedgerReader {
	return func(l wire.Ledger) iter.Seq[run.Line] {
		return func(yield func(run.Line) bool) {
			root, err := os.OpenRoot(dir)
			if err != nil {
				return
			}
			defer func() { _ = root.Close() }()
			f, err := root.Open(l.Path())
			if err != nil {
				return
			}
			defer func() { _ = f.Close() }()
			if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
				return
			}
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, maxRow)
			for lines.Scan() {
				raw := append([]byte(nil), lines.Bytes()...)
				row, err := ojson.DecodeObject(raw)
				if err == nil && !yield(run.Line{Raw: raw, Row: row}) {
					return
				}
			}
		}
	}
}

// maxRow bounds a row of a ledger, in bytes.
const maxRow = 16 << 20
