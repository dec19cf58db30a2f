// turn edit: a person writes the result of a turn in their editor, as a message for git commit.

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/prove"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// runTurnEdit opens what is staged for the turn, or else its skeleton, stages the edited text and
// says whether it is valid. A draft that cannot be staged is kept.
func runTurnEdit(ctx context.Context, f *term.Factory, id string) error {
	turn, err := editStaged(ctx, f, id)
	if err != nil {
		return err
	}
	if err := prove.RunVerifyTurn(ctx, f, &prove.VerifyTurnOptions{Turn: turn}); err != nil {
		var e *term.Error
		if errors.As(err, &e) && e.Code == "validation_failed" {
			return e.WithHint("git agentxchain turn edit " + turn)
		}
		return err
	}
	f.Out.Notice("Staged. Hand it in with: git agentxchain accept %s", turn)
	return nil
}

func editStaged(ctx context.Context, f *term.Factory, id string) (turn string, err error) {
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return "", err
	}
	t, err := shared.ActiveTurn(v, id, "turn edit")
	if err != nil {
		return "", err
	}
	before, err := draft(ctx, r, t.TurnID)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "turn-result-*.json")
	if err != nil {
		return "", err
	}
	name := file.Name()
	_, err = file.Write(before)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	err = f.Edit(ctx, name)
	after, rerr := os.ReadFile(name)
	if rerr != nil || bytes.Equal(before, after) {
		_ = os.Remove(name)
		if err = cmp.Or(err, rerr); err == nil {
			err = term.Errorf("failed", "the result was left as it was; nothing is staged").
				WithHint("git agentxchain turn edit " + t.TurnID)
		}
		return "", err
	}
	if err != nil { // an editor reports like this that its text is not to be used, or that it crashed
		return "", term.Errorf("failed", "%w; nothing is staged. Your text is kept in %s.", err, name)
	}
	if _, err := r.StageResult(ctx, t.TurnID, after); err != nil {
		return "", term.Errorf(runner.ErrorCode(err), "%s Your text is kept in %s.", term.OneLine(err.Error()), name).
			WithHint("git agentxchain turn edit " + t.TurnID)
	}
	return t.TurnID, os.Remove(name)
}

// draft returns what the editor starts from.
func draft(ctx context.Context, r *runner.Runner, turn string) ([]byte, error) {
	staged, err := r.Staged(turn)
	if err != nil || staged.Data != nil {
		return staged.Data, err
	}
	doc, err := r.Template(ctx, turn)
	if err != nil {
		return nil, err
	}
	return ojson.Pretty(doc), nil
}
