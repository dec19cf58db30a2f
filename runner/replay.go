// Verification replay: running a turn's machine evidence again (docs/spec/results.md#verification-replay).

package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

const (
	replayTimeout = 30 * time.Second
	replayOutput  = 1 << 20
)

// replayForPolicy replays the staged evidence when a policy that applies to the
// turn asks for it and the person has agreed to run what agents declare; without
// that agreement nothing runs and the policy sees a replay that was not executed.
func (c *change) replayForPolicy(ctx context.Context, turn *run.Turn, s staged) (*result.ReplayOutcome, error) {
	if !limits.PoliciesNeedReplay(c.view.Config, c.view.State.Phase, turn.AssignedRole) {
		return nil, nil
	}
	doc, refusal := protocol.DecodeStaged(s.path, s.data)
	if refusal != nil {
		return nil, nil // the engine refuses it with the same words
	}
	return c.r.replay(ctx, doc.Object("verification"), ReplayOptions{Execute: c.r.store.SettingBool(ctx, "agentxchain.replayVerification")})
}

// ReplayOptions says how to replay.
type ReplayOptions struct {
	Execute bool          // run the commands; otherwise only say what would run
	Timeout time.Duration // per command, 30 s when 0
}

// ReplayTurn replays the machine evidence of a staged result ("verify turn").
func (r *Runner) ReplayTurn(ctx context.Context, doc *ojson.Object, opt ReplayOptions) (*result.ReplayOutcome, error) {
	return r.replay(ctx, doc.Object("verification"), opt)
}

func (r *Runner) replay(ctx context.Context, verification *ojson.Object, opt ReplayOptions) (*result.ReplayOutcome, error) {
	if opt.Timeout <= 0 {
		opt.Timeout = replayTimeout
	}
	out := &result.ReplayOutcome{VerifiedAt: wire.FormatTime(r.Now()), TimeoutMS: int(opt.Timeout.Milliseconds())}
	evidence := verification.Objects("machine_evidence")
	switch {
	case len(evidence) == 0:
		out.Overall = result.ReplayNotReproducible
		out.Reason = "the result declares no machine evidence; commands and a summary cannot be run again"
		return out, nil
	case !opt.Execute:
		out.Overall = result.ReplayNotExecuted
		out.Reason = "declared commands run only with the operator's consent (git config agentxchain.replayVerification true, or --execute)"
		return out, nil
	}
	before, err := r.treePrint(ctx)
	if err != nil {
		return nil, err
	}
	for i, e := range evidence {
		row, matched := r.replayOne(ctx, i, e, opt.Timeout)
		out.Commands = append(out.Commands, row)
		out.ReplayedCommands++
		if matched {
			out.MatchedCommands++
		}
	}
	out.Overall = result.ReplayMismatch
	if out.MatchedCommands == out.ReplayedCommands {
		out.Overall = result.ReplayMatch
	}
	after, err := r.treePrint(ctx)
	if err != nil {
		return nil, err
	}
	out.Drift = drift(before, after)
	return out, nil
}

func (r *Runner) replayOne(ctx context.Context, i int, e *ojson.Object, timeout time.Duration) (*ojson.Object, bool) {
	declared, hasCode := e.Int("exit_code")
	row := ojson.NewObject("index", i, "command", e.String("command"), "declared_exit_code", nil, "actual_exit_code", nil,
		"matched", false, "executed", false, "timed_out", false, "signal", nil, "error", nil)
	if hasCode {
		row.Set("declared_exit_code", declared)
	}
	argv := e.Strings("argv")
	if len(argv) == 0 || len(argv) != len(e.Array("argv")) {
		argv = SplitCommand(e.String("command"))
	}
	if len(argv) == 0 || argv[0] == "" {
		row.Set("error", "the entry names no command that can be run")
		return row, false
	}
	res := process.Run(ctx, process.Spec{Argv: argv, Dir: r.store.Dir(), Env: replayEnv(), Timeout: timeout, Limit: replayOutput, KeepTail: true})
	row.Set("executed", res.Exit != nil && !res.TimedOut || res.Signal != "")
	row.Set("timed_out", res.TimedOut)
	if res.Signal != "" {
		row.Set("signal", res.Signal)
	}
	if reason := spawnError(res, timeout); reason != "" {
		row.Set("error", reason)
	}
	if res.Exit == nil || res.TimedOut {
		return row, false
	}
	row.Set("actual_exit_code", *res.Exit)
	matched := hasCode && declared == *res.Exit
	row.Set("matched", matched)
	return row, matched
}

// replayEnv is our environment without what an agent's command has no business
// with: secrets by name, and git variables that tie it to another repository.
func replayEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		up := strings.ToUpper(k)
		if strings.HasPrefix(up, "GIT_") || strings.HasPrefix(up, "AGENTXCHAIN_") {
			return true
		}
		for _, s := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIAL", "PRIVATE_KEY"} {
			if strings.Contains(up, s) {
				return true
			}
		}
		return false
	})
}

// treePrint is the fingerprint of every dirty project file.
func (r *Runner) treePrint(ctx context.Context) (map[string]string, error) {
	st, err := r.store.Repository().Status(ctx, r.store.Repository().Prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for _, p := range observe.DirtyPaths(st) {
		out[p] = r.store.Fingerprint(p)
	}
	return out, nil
}

func drift(before, after map[string]string) string {
	var changed []string
	for p, m := range after {
		if before[p] != m {
			changed = append(changed, p)
		}
	}
	for p := range before {
		if _, ok := after[p]; !ok {
			changed = append(changed, p)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	slices.Sort(changed)
	if len(changed) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(changed[:5], ", "), len(changed)-5)
	}
	return strings.Join(changed, ", ")
}

// SplitCommand splits a command line the way the protocol does: no shell, single
// quotes literal, double quotes with backslash before " and \ only, a bare
// backslash takes the next character; an open quote runs to the end.
func SplitCommand(s string) []string {
	var out []string
	var cur strings.Builder
	started := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			} else {
				cur.WriteByte(c)
			}
		case quote == '"':
			switch {
			case c == '"':
				quote = 0
			case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
				i++
				cur.WriteByte(s[i])
			default:
				cur.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == '\\' && i+1 < len(s):
			i++
			cur.WriteByte(s[i])
			started = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if started {
				out = append(out, cur.String())
				cur.Reset()
				started = false
			}
		default:
			cur.WriteByte(c)
			started = true
		}
	}
	if started {
		out = append(out, cur.String())
	}
	return out
}
