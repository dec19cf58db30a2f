// turn log: the output of a turn's agent, in words.

package cli

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/agentstream"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/look"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type turnLogOptions struct {
	Turn   string // "": the only active one, else the one accepted last
	Raw    bool
	Follow bool
}

func runTurnLog(ctx context.Context, f *term.Factory, o *turnLogOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	id, attempts, err := loggedTurn(ctx, r, o.Turn)
	if err != nil {
		return err
	}
	name, data, err := r.TurnLog(id, attempts)
	if err != nil {
		return err
	}
	if data == nil && !o.Follow {
		return term.Errorf("not_found", "turn %s has no log on this machine", term.OneLine(id)).
			WithHint("only agents write a log, on the machine where they ran")
	}
	if f.JSON() {
		f.Out.Emit(ojson.NewObject("turn_id", id, "path", name, "lines", logLines(data, o.Raw)), nil)
		return nil
	}
	if !o.Follow {
		f.Out.Page(ctx)
	}
	p, shown := f.Out.Printer(), 0
	for {
		if len(data) < shown {
			shown = 0 // the middle of a long log was dropped, or an attempt began
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		if !o.Follow {
			end = len(data)
		}
		if end > shown {
			for _, line := range logLines(data[shown:end], o.Raw) {
				p.Printf("%s\n", term.OneLine(line))
			}
			shown = end
		}
		if err := f.Out.Flush(); err != nil || !o.Follow {
			return err
		}
		v, err := r.View(ctx)
		if err != nil {
			return err
		}
		if !v.State.ActiveTurns.Has(id) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(look.PollInterval):
		}
		if _, data, err = r.TurnLog(id, attempts); err != nil {
			return err
		}
	}
}

// loggedTurn returns the turn that is meant, and how many attempts it may have had.
func loggedTurn(ctx context.Context, r *runner.Runner, id string) (string, int, error) {
	v, err := r.View(ctx)
	if err != nil {
		return "", 0, err
	}
	if id == "" && v.State.ActiveTurns.Len() == 0 && wire.OrEmpty(v.State.LastCompletedTurnID) != "" {
		return *v.State.LastCompletedTurnID, 0, nil
	}
	turn, err := shared.ActiveTurn(v, id, "turn log")
	if err == nil {
		return turn.TurnID, cmp.Or(turn.Attempt, 1), nil
	}
	if id == "" {
		return "", 0, err
	}
	if row, rerr := r.Record().LastRow(ctx, wire.LedgerHistory, "turn_id", id); rerr != nil || row == nil {
		return "", 0, cmp.Or(rerr, err)
	}
	return id, 0, nil
}

// logLines returns the lines of a log, raw or in words.
func logLines(data []byte, raw bool) []string {
	if !raw {
		return agentstream.Words(data)
	}
	out := []string{}
	for line := range strings.Lines(strings.ToValidUTF8(string(data), "\ufffd")) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out
}
