// The operation on lifecycle hooks, which runs those of a phase (docs/conformance.md#becoming-a-target).

package conformance

import (
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// runHooks runs the hooks of args.phase in a scratch directory with the workspace. Programs really run; a fixture
// whose hook starts with the bare name of a program that is not installed here proves nothing about this engine.
func runHooks(w *workspace) (outcome, error) {
	phase, err := w.textArg("phase")
	if err != nil {
		return nil, err
	}
	payload, err := w.objectArg("payload")
	if err != nil {
		return nil, err
	}
	list := hooks.FromConfig(w.cfg, phase)
	for _, h := range list {
		if err := installed(h); err != nil {
			return nil, err
		}
	}
	s, cleanup, err := w.scratch()
	if err != nil {
		return nil, err
	}
	defer cleanup()
	runID := w.state.Run()
	if runID == "" {
		runID = payload.String("run_id")
	}
	r := hooks.Runner{
		Root:    s.project(),
		Now:     func() time.Time { return w.now },
		Environ: func() []string { return s.environ(os.Environ()) },
		Scratch: s.base,
	}
	out, err := r.Run(w.ctx, list, hooks.Call{
		Phase:   phase,
		RunID:   runID,
		TurnID:  payload.String("turn_id"),
		Payload: payload,
	})
	if err != nil {
		return nil, err
	}
	rows := out.Rows()
	actual := ojson.NewObject("result", "success", "hook_ok", out.OK, "blocked", out.Blocked, "audit_entry", nil,
		"audit_entries", rows)
	if len(rows) > 0 {
		actual.Set("audit_entry", rows[0])
	}
	return actual, nil
}

// installed refuses a hook whose program is a bare name that is not on PATH.
func installed(h hooks.Hook) error {
	if len(h.Command) == 0 || h.Type != "process" || strings.ContainsAny(h.Command[0], `/\`) {
		return nil
	}
	if _, err := exec.LookPath(h.Command[0]); err != nil {
		return notImplemented("the hook %s starts %s, which is not on PATH here", show(h.Name), show(h.Command[0]))
	}
	return nil
}
