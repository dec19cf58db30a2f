// The outcome of a program: the classification of its end, first match wins (docs/runtimes.md#local_cli).

package localcli

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/agentstream"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Failures at the start.
const (
	spawnFailed  = "runtime_spawn_failed"
	noSubprocess = "no_subprocess_output"
)

func (w *watch) outcome(c *call, res *process.Result) *runtimes.Outcome {
	w.mu.Lock()
	why, said := w.why, w.stdout > 0
	w.mu.Unlock()
	if !res.Canceled { // it ended by itself just before
		why = ""
	}
	staged := w.staged()
	out := w.classify(c, res, why, said, staged)
	out.Exit, out.Signal = res.Exit, res.Signal
	out.CostUSD, out.Usage = reported(c.agent, res.Stdout)
	w.diag("process_exit", "exit_code", status(res.Exit), "signal", ojson.OrNull(res.Signal),
		"stderr_excerpt", ojson.OrNull(excerpt(res.Stderr)), "staged_result_ready", staged,
		"watchdog_fired", why == endedStartup, "startup_failure_type", ojson.OrNull(out.Failure), "outcome", out.Kind,
		"survivors", res.Survivors)
	return out
}

func (w *watch) classify(c *call, res *process.Result, why string, said, staged bool) *runtimes.Outcome {
	id := w.req.Runtime.ID
	unblock := "then: git agentxchain unblock"
	switch {
	case why == endedAbort:
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	case staged:
		return &runtimes.Outcome{Kind: runtimes.Staged}
	}
	if out := providerFailure(c.agent, id, res.Stdout, res.Stderr); out != nil {
		return out
	}
	switch {
	case why == endedStartup:
		out := blocked(noSubprocess,
			fmt.Sprintf("The agent of runtime %s gave no sign of life within %s.", id, w.startup),
			"run its command by hand to see what it waits for; raise startup_watchdog_ms if it only needs longer; "+
				unblock)
		out.Failure = noSubprocess
		return out
	case res.StartErr != nil:
		recovery := spawnRecovery(c, res.StartErr)
		out := blocked(spawnFailed, fmt.Sprintf("The agent of runtime %s could not be started: %s; %s.", id,
			startError(c, res.StartErr), recovery), recovery+", "+unblock)
		out.Failure = spawnFailed
		return out
	case why == endedLimit:
		return &runtimes.Outcome{
			Kind:   runtimes.TimedOut,
			Reason: "The time of the turn was up and no result was staged.",
		}
	case why == endedIdle:
		return &runtimes.Outcome{
			Kind:   runtimes.TimedOut,
			Reason: fmt.Sprintf("The agent said nothing for %s and had staged no result.", w.idle),
		}
	case res.Signal == "SIGTERM" || res.Signal == "SIGKILL":
		return blocked("agent_killed",
			fmt.Sprintf("The agent of runtime %s was ended by %s from outside before it had staged a result.", id,
				res.Signal),
			"find out what ended it (the system sends SIGKILL when memory runs out), "+unblock)
	case !said:
		out := blocked(noSubprocess,
			fmt.Sprintf("The agent of runtime %s ended %s without any output and without a result%s.", id, ended(res),
				because(res)), "run its command by hand to see what is wrong, "+unblock)
		out.Failure = noSubprocess
		return out
	}
	return &runtimes.Outcome{
		Kind: runtimes.Rejected,
		Reason: fmt.Sprintf("The agent ended %s and had staged no result at %s%s.", ended(res), w.req.StagingPath,
			because(res)),
	}
}

func ended(res *process.Result) string {
	switch {
	case res.Signal != "":
		return "by " + res.Signal
	case res.Exit != nil:
		return fmt.Sprintf("with status %d", *res.Exit)
	}
	return "in an unknown way"
}

// because quotes the last failure that the agent reported, or else the last line of standard error, where other
// programs report problems. What agents write there beside their records is advice and the ends of stack traces.
func because(res *process.Result) string {
	line := ""
	for record := range bytes.Lines(res.Stdout) {
		doc, err := ojson.DecodeObject(bytes.TrimSpace(record))
		if err == nil && isErrorRecord(doc) && !isRetry(doc) {
			line = cmp.Or(agentstream.Failure(doc), line)
		}
	}
	if line == "" {
		text := strings.TrimRight(string(res.Stderr), " \t\r\n")
		line = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if line = runtimes.Shown([]byte(line)); line == "" {
		return ""
	}
	return " (" + line + ")"
}

func startError(c *call, err error) string {
	text := err.Error()
	// The error names the arguments it could not pass only by their number.
	if strings.Contains(text, "argument list too long") {
		return fmt.Sprintf("the prompt of %d bytes is too long for an argument", c.prompt)
	}
	return strings.TrimSuffix(text, ".")
}

func spawnRecovery(c *call, err error) string {
	switch {
	case strings.Contains(err.Error(), "argument list too long"):
		return `set its prompt_transport to "stdin"`
	case process.Missing(err):
		if strings.ContainsAny(c.template[0], " \t") {
			return "put the program's arguments into args; command names one program"
		}
		return "install " + c.template[0] + " or correct the command"
	}
	return "correct the command"
}

// excerpt returns the end of a text for a record. It removes secrets before it cuts: no rule would find the
// rest of one.
func excerpt(b []byte) string {
	const most = 800
	b = []byte(secrets.Redact(string(b)))
	if len(b) > most {
		b = b[len(b)-most:]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "\ufffd")
}

func status(exit *int) any {
	if exit == nil {
		return nil
	}
	return *exit
}
