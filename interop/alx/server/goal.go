// The intent becomes the goal of the run's branch, and is put back when the run is over.

package server

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// maxGoal is how long a project's goal may be, in UTF-16 units (docs/spec/configuration.md).
const maxGoal = 500

// files returns the first files of a session's branch: agentxchain.json with the intent as its
// goal, and the full intent when a goal cannot hold it. They follow from the record alone, so
// making them again gives the same bytes.
func (s *Server) files(ctx context.Context, rec *record) (map[string][]byte, error) {
	base, err := workspace.BaseOf(ctx, s.home, runner.OpID(rec.Base))
	if err != nil {
		return nil, err
	}
	wished := wish(rec)
	goal, whole := wished, units(wished) <= maxGoal
	out := make(map[string][]byte)
	if !whole {
		name := ".planning/intents/" + rec.SessionID + ".md"
		tail := "… (in full: " + name + ")"
		goal = text.CutUnits(wished, maxGoal-units(tail)) + tail
		out[name] = []byte("# Intent\n\n" + wished + "\n")
	}
	raw, err := base.WithGoal(goal)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(raw, base.Raw) {
		out[wire.ConfigPath] = raw
	}
	return out, nil
}

// settle completes the branch of a run that is over and notes that.
func (s *Server) settle(ctx context.Context, r *runner.Runner, x *session) {
	rec := x.asked()
	if err := checkpoint(ctx, r); err != nil {
		s.log.Warn("files of accepted turns could not be committed", "sessionId", rec.SessionID, "branch", rec.Branch,
			"error", err.Error())
		return // the next server tries again
	}
	if err := s.ownGoal(ctx, r, rec); err != nil {
		s.log.Warn("the project's goal could not be restored on the run's branch", "sessionId", rec.SessionID,
			"branch", rec.Branch, "error", err.Error())
	}
	done := *rec
	done.SettledAt = wire.FormatTime(s.opt.Now().UTC())
	if err := s.records.save(&done); err != nil {
		s.log.Warn("the session could not be written down", "sessionId", rec.SessionID, "error", err.Error())
		return
	}
	x.mu.Lock()
	x.rec = &done
	x.mu.Unlock()
}

// checkpoint commits the files of accepted turns that a killed server did not get to: the loop
// leaves a completed run alone.
func checkpoint(ctx context.Context, r *runner.Runner) error {
	v, err := r.View(ctx)
	if err != nil || v.Index == nil {
		return err
	}
	var turns []string
	for _, id := range v.Index.Uncheckpointed.All() {
		if !slices.Contains(turns, id) {
			turns = append(turns, id)
		}
	}
	for _, id := range turns {
		if _, err := r.Checkpoint(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// ownGoal restores the project's own goal: merging two branches must not conflict over their
// intents. A file that has changed in the meantime stays as it is.
func (s *Server) ownGoal(ctx context.Context, r *runner.Runner, rec *record) error {
	files, err := s.files(ctx, rec)
	seeded, ok := files[wire.ConfigPath]
	if err != nil || !ok {
		return err
	}
	base, err := workspace.BaseOf(ctx, s.home, runner.OpID(rec.Base))
	if err != nil {
		return err
	}
	have, err := r.LoadContext(ctx)
	if err != nil {
		return err
	}
	if now := ojson.Compact(have.RawConfig); !bytes.Equal(now, compact(seeded)) &&
		!bytes.Equal(now, compact(base.Raw)) {
		return nil
	}
	return workspace.CommitFile(ctx, r, wire.ConfigPath, base.Raw,
		"Solve: the project's own goal again\n\nAlx-Session: "+rec.SessionID+"\n")
}

func compact(data []byte) []byte {
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	return ojson.Compact(o)
}

// wish returns the intent with its constraints.
func wish(rec *record) string {
	text := strings.TrimSpace(rec.Intent)
	var list []string
	switch c := rec.Constraints.(type) {
	case nil:
		return text
	case string:
		list = []string{c}
	case []any:
		for _, v := range c {
			list = append(list, inWords(v))
		}
	case *ojson.Object:
		for k, v := range c.All() {
			list = append(list, k+": "+inWords(v))
		}
	default:
		list = []string{inWords(c)}
	}
	if len(list) == 0 {
		return text
	}
	return text + "\n\nConstraints:\n- " + strings.Join(list, "\n- ")
}

func inWords(v ojson.Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(ojson.Compact(v))
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// subject returns an intent as the first line of a commit message.
func subject(intent string) string {
	line := strings.Join(strings.Fields(intent), " ")
	if short := text.CutUnits(line, 60); short != line {
		line = short + "…"
	}
	return line
}

// ready says whether the project can carry out a run without a person, from the commit at HEAD. The
// error is an *alx.Error.
func (s *Server) ready(ctx context.Context) (*workspace.Base, error) {
	base, err := workspace.BaseOf(ctx, s.home, "")
	if err != nil {
		return nil, failure(err)
	}
	auto, err := base.Automatic()
	if err != nil {
		return nil, failure(err).With("runtimes", bound(base.Config))
	}
	if err := s.home.RuntimeTrusted(ctx, base.Config, auto...); err != nil {
		return nil, failure(err).With("runtimes", auto)
	}
	return base, nil
}

// Ready returns what keeps the project from carrying out runs, nil for nothing. The error is an
// *alx.Error.
func (s *Server) Ready(ctx context.Context) error {
	_, err := s.ready(ctx)
	return err
}
