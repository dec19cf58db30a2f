// Running the hooks of a command, if they are trusted, and keeping their answers.

package ophooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// envKey names, in git's configuration, further environment variables to pass to process hooks;
// values are lists separated by white space or commas.
const envKey = "agentxchain.hookEnv"

// Session handles the lifecycle hooks of one command. It is nil when none are configured; its
// methods work on nil.
type Session struct {
	m      Machine
	tx     *gitstore.Tx
	cfg    *config.Config
	run    *hooks.Runner // made at the first use
	digest string        // of the trusted scope; "" until trust was checked
	rows   []protocol.AuditRow
	turn   string // turn the rows are about
}

// Machine says where the hooks of a command run.
type Machine struct {
	Store       *gitstore.Store
	Trust       trust.Asker
	Now         func() time.Time
	Correlation string // passed to hooks, so that what they do can be traced
}

// Begin returns the hooks of a command under cfg, nil when it has none.
func Begin(m Machine, tx *gitstore.Tx, cfg *config.Config) *Session {
	if cfg.Hooks.Len() == 0 {
		return nil
	}
	return &Session{m: m, tx: tx, cfg: cfg}
}

// Has reports whether hooks are configured for one of the phases.
func (h *Session) Has(phases ...string) bool {
	if h == nil {
		return false
	}
	return slices.ContainsFunc(phases, func(p string) bool { return len(h.cfg.Hooks.Array(p)) > 0 })
}

// Take returns the rows of the hooks that have run since the last call, and the turn they are
// about.
func (h *Session) Take() (turn string, rows []protocol.AuditRow) {
	if h == nil {
		return "", nil
	}
	rows, h.rows = h.rows, nil
	return h.turn, rows
}

// Waiting reports whether there are rows to take.
func (h *Session) Waiting() bool { return h != nil && len(h.rows) > 0 }

// WillRun refuses the operation, before anything of it has happened, when it would run hooks that
// are not trusted on this machine.
func (h *Session) WillRun(ctx context.Context, phases ...string) error {
	if !h.Has(phases...) || h.digest != "" {
		return nil
	}
	scope, err := trust.Of(h.m.Store.Dir(), h.cfg)
	if err != nil {
		return err
	}
	how, err := h.m.Trust.By(ctx, scope.Digest)
	if err != nil {
		return err
	}
	if how == "" {
		return trust.Untrusted(scope, phases)
	}
	h.digest = scope.Digest
	return nil
}

// Call runs the hooks of a phase and keeps their rows for the record. The outcome
// is nil when the phase has none.
func (h *Session) Call(ctx context.Context, call hooks.Call) (*hooks.Outcome, error) {
	if !h.Has(call.Phase) {
		return nil, nil
	}
	// What was trusted when the command began must still be what runs: a process beside us may have
	// changed a script meanwhile.
	scope, err := trust.Of(h.m.Store.Dir(), h.cfg)
	if err != nil {
		return nil, err
	}
	if scope.Digest != h.digest {
		e := trust.Untrusted(scope, []string{call.Phase})
		e.Message = fmt.Sprintf(
			"The hooks or their files changed after this command began; the hooks of %s were not run.", call.Phase)
		return nil, e
	}
	if h.run == nil {
		if h.run, err = h.hookRunner(ctx); err != nil {
			return nil, err
		}
	}
	faults.Point("hooks.run.before")
	out, err := h.run.Run(ctx, hooks.FromConfig(h.cfg, call.Phase), call)
	faults.Point("hooks.run.after")
	if out != nil {
		for _, row := range out.Rows() {
			h.rows = append(h.rows, protocol.AuditRow{Ledger: wire.LedgerHookAudit, Row: bounded(row)})
		}
		for _, row := range out.Annotations {
			h.rows = append(h.rows, protocol.AuditRow{Ledger: wire.LedgerHookAnnotations, Row: row})
		}
		if call.TurnID != "" {
			h.turn = call.TurnID
		}
	}
	if out != nil && out.Tamper != nil {
		// A file that was put back is a new file with the old contents.
		err = errors.Join(err, h.tx.Reread(context.WithoutCancel(ctx)))
	}
	if err == nil && ctx.Err() != nil {
		// Interrupted: a killed hook's silence must not count as its no.
		err = context.Cause(ctx)
	}
	return out, err
}

// bounded cuts a row down to what an operation records: a hook may make a message as large as it
// likes.
func bounded(row *ojson.Object) *ojson.Object {
	if (protocol.AuditRow{Row: row}).Fits() {
		return row
	}
	row = row.Clone()
	const keep = 4096
	text := row.String("message")
	if text == "" {
		text = string(ojson.Compact(row.Value("message")))
	}
	if len(text) > keep {
		text = strings.ToValidUTF8(text[:keep], "") + " [cut]"
	}
	row.Set("message", text)
	if !(protocol.AuditRow{Row: row}).Fits() {
		row.Set("annotations", []any{})
	}
	return row
}

func (h *Session) hookRunner(ctx context.Context) (*hooks.Runner, error) {
	values, err := h.m.Store.Repository().Settings(ctx, envKey)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range values {
		names = append(names, strings.FieldsFunc(v,
			func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })...)
	}
	// Without its lock the command could not record what the hook has done.
	return &hooks.Runner{
		Root:          h.m.Store.Dir(),
		Now:           h.m.Now,
		ExtraEnvNames: names,
		Correlation:   h.m.Correlation,
		Kept:          []string{wire.LockPath},
		Restorable:    h.tx.Records,
		// Also when the person has just interrupted: what a hook did is undone first.
		Restore: func(name string) ([]byte, error) { return h.tx.Recorded(context.WithoutCancel(ctx), name) },
	}, nil
}
