// Verification replay: running a turn's machine evidence again (docs/spec/results.md#verification-replay).

package commands

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

const (
	replayTimeout = 30 * time.Second
	replayOutput  = 1 << 20
)

// ReplayOptions says how to replay.
type ReplayOptions struct {
	Execute bool          // run the commands; otherwise only report what would run
	Timeout time.Duration // per command, 30 s when 0
}

// Replay runs the machine evidence of a staged result again, in the project of s.
func Replay(ctx context.Context, s *gitstore.Store, now time.Time, verification *ojson.Object,
	opt ReplayOptions) (*result.ReplayOutcome, error) {
	if opt.Timeout <= 0 {
		opt.Timeout = replayTimeout
	}
	out := &result.ReplayOutcome{VerifiedAt: wire.FormatTime(now), TimeoutMS: int(opt.Timeout.Milliseconds())}
	evidence := verification.Objects("machine_evidence")
	switch {
	case len(evidence) == 0:
		out.Overall = result.ReplayNotReproducible
		out.Reason = "the result declares no machine evidence; commands and a summary cannot be run again"
		return out, nil
	case !opt.Execute:
		out.Overall = result.ReplayNotExecuted
		out.Reason = "declared commands run only with the operator's consent (git config --global agentxchain.replayVerification true, or --execute)"
		return out, nil
	}
	before, err := treePrint(ctx, s)
	if err != nil {
		return nil, err
	}
	for i, e := range evidence {
		row, matched := replayOne(ctx, s.Dir(), i, e, opt.Timeout)
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
	after, err := treePrint(ctx, s)
	if err != nil {
		return nil, err
	}
	out.Drift = drift(before, after)
	return out, nil
}

func replayOne(ctx context.Context, dir string, i int, e *ojson.Object, timeout time.Duration) (*ojson.Object, bool) {
	declared, hasCode := e.Int("exit_code")
	row := ojson.NewObject("index", i, "command", e.String("command"), "declared_exit_code", nil,
		"actual_exit_code", nil,
		"matched", false, "executed", false, "timed_out", false, "signal", nil, "error", nil)
	if hasCode {
		row.Set("declared_exit_code", declared)
	}
	argv := e.Strings("argv")
	if len(argv) == 0 || len(argv) != len(e.Array("argv")) {
		argv = splitCommand(e.String("command"))
	}
	if len(argv) == 0 || argv[0] == "" {
		row.Set("error", "the entry names no command that can be run")
		return row, false
	}
	res := process.Run(ctx, process.Spec{
		Argv:     argv,
		Dir:      dir,
		Env:      replayEnv(),
		Timeout:  timeout,
		Limit:    replayOutput,
		KeepTail: true,
	})
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

// replayEnv returns our environment without what an agent's command must not have: secrets,
// recognised by name, and git variables that tie it to another repository.
func replayEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		up := strings.ToUpper(k)
		if strings.HasPrefix(up, "GIT_") || strings.HasPrefix(up, "AGENTXCHAIN_") {
			return true
		}
		for _, s := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIAL",
			"PRIVATE_KEY"} {
			if strings.Contains(up, s) {
				return true
			}
		}
		return false
	})
}

// treePrint returns the fingerprints of all dirty project files.
func treePrint(ctx context.Context, s *gitstore.Store) (map[string]string, error) {
	st, err := gitstatus.Of(ctx, s.Repository(), s.Repository().Prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for _, p := range observe.DirtyPaths(st) {
		out[p] = s.Fingerprint(p)
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
	slices.Sort(changed)
	return wire.ListSome(changed, 5)
}

// splitCommand splits a command line the way the protocol does: no shell, single
// quotes literal, double quotes with backslash before " and \ only, a bare
// backslash takes the next character; an open quote runs to the end.
func splitCommand(s string) []string {
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
