// A fixture of the endpoint: its process, its scratch directory, and what is reported of it.

package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// run executes a decoded fixture. Any verdict is a 200, and so is a missed deadline, which the verifier must be
// able to distinguish from a broken endpoint; 500 is for an adapter without a verdict.
func (e *endpoint) run(ctx context.Context, fixture ojson.Value) reply {
	// Home and temporary files of the fixture share one directory, which is removed.
	scratch, env, err := ownTemp(e.Environ, "HOME", "USERPROFILE")
	if err != nil {
		return says(http.StatusInternalServerError, "no scratch directory can be made")
	}
	defer removeTemp(scratch)
	timeout := e.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	r := process.Run(ctx, process.Spec{
		Argv:           e.Command,
		Dir:            scratch,
		Env:            env,
		Stdin:          append(ojson.Compact(fixture), '\n'),
		Timeout:        timeout,
		Limit:          maxAnswer,
		KillOnOverflow: true,
	})
	switch {
	case ctx.Err() != nil || r.Canceled:
		return endedEarly()
	case r.StartErr != nil:
		return says(http.StatusInternalServerError, "the adapter cannot be started")
	case r.TimedOut:
		return graded(Result{
			Status:  StatusError,
			Message: fmt.Sprintf("the fixture did not end within %dms", timeout.Milliseconds()),
		})
	case r.Overflow:
		return says(http.StatusInternalServerError, "the outcome is larger than %d MiB", maxAnswer>>20)
	}
	doc, err := ojson.DecodeLimited([]byte(strings.TrimSpace(string(r.Stdout))), ojson.Limits{Bytes: maxAnswer})
	o, _ := doc.(*ojson.Object)
	status := Status(o.String("status"))
	switch {
	case r.Exit == nil || err != nil || o == nil:
		return says(http.StatusInternalServerError, "the adapter ended without a verdict")
	case *r.Exit != status.ExitCode():
		return says(http.StatusInternalServerError, "the adapter's exit status contradicts its verdict")
	}
	return graded(Result{Status: status, Message: o.String("message"), Actual: o.Value("actual")})
}

func graded(r Result) reply { return reply{status: http.StatusOK, body: r.object()} }

// EndpointEnviron returns the environment of an endpoint's adapters: what programs need to be found and to print
// text, and nothing that may be a secret.
func EndpointEnviron(lookup func(string) string) []string {
	var out []string
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SHELL", "SYSTEMROOT", "COMSPEC",
		"PATHEXT", "WINDIR"} {
		if v := lookup(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}
