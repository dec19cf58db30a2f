// The two transports: a program, and a POST (docs/hooks.md#what-a-hook-is-given).

package hooks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
)

// maxOutput bounds a hook's output on each stream, or in a response, in bytes.
const maxOutput = 1 << 20

// maxBodyExcerpt bounds the excerpt of an unsuccessful response, in characters.
const maxBodyExcerpt = 200

// try runs a hook and returns its answer, with the values that must not be repeated.
func (r *Runner) try(ctx context.Context, h Hook, call Call, env []string) (attempt, secrets) {
	switch h.Type {
	case typeHTTP:
		return r.post(ctx, h, call)
	case typeProcess:
		return r.start(ctx, h, call, env), handedOn(slices.Concat(r.ExtraEnvNames, h.EnvNames), env)
	}
	return attempt{stderr: "the hook did not run: " + h.typeProblem()}, nil
}

// handedOn returns the values of variables that a hook was given by name: those outside the allow-list count as
// secrets.
func handedOn(names, env []string) secrets {
	var s secrets
	for _, name := range names {
		if v, ok := lookupIn(env, name); ok && !inherited(name) {
			s.add(v)
		}
	}
	return s
}

// start runs a process hook with the envelope on its standard input.
func (r *Runner) start(ctx context.Context, h Hook, call Call, env []string) attempt {
	res := process.Run(ctx, process.Spec{Argv: h.Command, Dir: r.Root, Env: env, Stdin: r.envelope(h, call),
		Timeout: h.timeout(), Grace: r.Grace, Limit: maxOutput, KillOnOverflow: true})
	a := attempt{
		exit:     res.Exit,
		timedOut: res.TimedOut,
		stdout:   res.Stdout,
		stderr:   string(res.Stderr),
		elapsed:  res.Duration,
	}
	switch {
	case res.StartErr != nil:
		a.stderr = r.notStarted(h, res.StartErr)
	case res.Overflow:
		a.exit = nil // its exit status does not count
		a.stderr = join(fmt.Sprintf("the hook was ended: it said more than %d bytes", maxOutput), a.stderr)
	case !res.TimedOut && res.Duration > h.timeout():
		a.timedOut = true
	}
	if a.timedOut {
		a.exit = nil // it was ended, even if it then chose a status
	}
	return a
}

// notStarted says why a program could not be started: what the hook lacks, in words, else as the system puts it.
func (r *Runner) notStarted(h Hook, err error) string {
	return "the program could not be started: " + cmp.Or(h.problem(r.Root, os.LookupEnv), err.Error())
}

func join(first, rest string) string {
	if rest == "" {
		return first
	}
	return first + "\n" + rest
}

// post sends the envelope to an http hook.
func (r *Runner) post(ctx context.Context, h Hook, call Call) (attempt, secrets) {
	code := func(n int) *int { return &n }
	var seen secrets
	lookup := r.lookup(h)
	// The values of variables are the secrets; the rest of a header is in the configuration for everyone to read.
	headers, missing := webpost.Resolve(h.Headers, func(name string) (string, bool) {
		v, ok := lookup(name)
		seen.add(v)
		return v, ok
	})
	if len(missing) > 0 {
		return attempt{exit: code(1), stderr: "Unresolved HTTP hook header variables: " + strings.Join(missing, ", ")},
			seen
	}
	req := webpost.Request{
		URL:     h.URL,
		Headers: headers,
		Body:    r.envelope(h, call),
		Timeout: h.timeout(),
		MaxBody: maxOutput,
	}
	res := webpost.Post(ctx, req)
	a := attempt{elapsed: res.Duration}
	switch {
	case res.TimedOut:
		a.exit, a.timedOut, a.stderr = code(2), true, "timeout"
	case res.Err != nil:
		a.exit, a.stderr = code(1), res.Err.Error()
	case !res.OK():
		// Masked before it is cut: half a secret would not be recognised.
		a.exit = code(1)
		a.stderr = fmt.Sprintf("HTTP %d: %s", res.Status,
			cut(seen.redact(req.Redact(string(res.Body))), maxBodyExcerpt))
	case res.Overflow:
		a.exit, a.stderr = code(1), fmt.Sprintf("the response is longer than %d bytes", maxOutput)
	default:
		a.exit, a.stdout = code(0), res.Body
	}
	return a, seen
}
