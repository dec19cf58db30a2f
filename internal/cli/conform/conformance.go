// conformance: prove this implementation, or another, against fixtures.

package conform

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func NewCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "conformance",
		Category: shared.CategoryProve,
		Usage:    "prove this implementation, or another, against fixtures",
		Subcommands: []*ucli.Command{
			newConformanceCheckCommand(f),
			newConformanceAdapterCommand(f),
			newConformanceCapabilitiesCommand(f),
			newConformanceInitCommand(f),
			newConformanceServeCommand(f),
			newConformanceListCommand(f),
		},
	}
}

func newConformanceAdapterCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "adapter", Usage: "run the one fixture on standard input, answer with one line of JSON",
		Description: "What a verifier of the protocol starts, once for every fixture (stdio-fixture-v1). " +
			"The answer is {status, message, actual}; the exit status is 0 for pass, 1 for fail, 2 for error and 3 for not_implemented. " +
			"It needs no repository and leaves nothing behind.",
		Action: func(c *ucli.Context) error {
			return runConformanceAdapter(c.Context, f, conformance.Adapter{Now: f.Now})
		},
	}
}

// runConformanceAdapter speaks the verifier's protocol: the answer has no envelope, with or without
// --json, and the exit status is the verdict's.
func runConformanceAdapter(ctx context.Context, f *term.Factory, a conformance.Adapter) error {
	out := f.Out.Raw()
	if f.Env.IsTerminal(f.Env.Stdin) {
		f.Out.Notice("reading one fixture from standard input")
	}
	r, err := adapterAnswer(ctx, f.Env.Stdin, a)
	if err != nil {
		return err
	}
	if _, err := out.Write(r.Line()); err != nil {
		return term.Errorf("io_failed", "cannot write the answer: %w", err)
	}
	if r.Status == conformance.StatusError {
		// The verifier reads the answer; this is for the person behind it.
		_, _ = fmt.Fprintln(f.Env.Stderr, term.OneLine(r.Message))
	}
	return term.ExitSilently(r.Status.ExitCode())
}

// adapterGrace is how long an adapter that is asked to end waits for its fixture to clean up.
const adapterGrace = 5 * time.Second

// adapterAnswer runs the fixture read from in. When the process is asked to end, it first ends what the
// fixture started and removes what it made.
func adapterAnswer(ctx context.Context, in io.Reader, a conformance.Adapter) (conformance.Result, error) {
	a.Context = ctx
	var started atomic.Bool
	done := make(chan conformance.Result, 1)
	go func() { done <- a.Read(&noting{in, &started}) }()
	select {
	case r := <-done:
		if ctx.Err() == nil {
			return r, nil
		}
	case <-ctx.Done():
		if started.Load() {
			select {
			case <-done:
			case <-time.After(adapterGrace):
			}
		}
	}
	return conformance.Result{}, ctx.Err()
}

// noting is a reader that notes its end: from then on the fixture runs.
type noting struct {
	io.Reader
	ended *atomic.Bool
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if err != nil {
		n.ended.Store(true)
	}
	return k, err
}
