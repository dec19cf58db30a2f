// conformance: prove this implementation, or another, against fixtures.

package cli

import (
	"context"
	"fmt"
	"io"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
)

func newConformanceCommand(f *Factory) *ucli.Command {
	return &ucli.Command{
		Name: "conformance", Category: categoryProve, Usage: "prove this implementation, or another, against fixtures",
		Subcommands: []*ucli.Command{{
			Name: "adapter", Usage: "run the one fixture on standard input, answer with one line of JSON",
			Description: "What a verifier of the protocol starts, once for every fixture (stdio-fixture-v1). " +
				"The answer is {status, message, actual}; the exit status is 0 for pass, 1 for fail, 2 for error and 3 for not_implemented. " +
				"It needs no repository and leaves nothing behind.",
			Action: func(c *ucli.Context) error {
				return runConformanceAdapter(c.Context, f, conformance.Adapter{Now: f.Now})
			},
		}},
	}
}

// runConformanceAdapter speaks the verifier's protocol: the answer is bare,
// --json or not, and the exit status is the verdict's.
func runConformanceAdapter(ctx context.Context, f *Factory, a conformance.Adapter) error {
	out := f.Out.Raw()
	if f.Env.IsTerminal(f.Env.Stdin) {
		f.Out.Notice("reading one fixture from standard input")
	}
	r, err := adapterAnswer(ctx, f.Env.Stdin, a)
	if err != nil {
		return err
	}
	if _, err := out.Write(r.Line()); err != nil {
		return errorf("io_failed", "cannot write the answer: %w", err)
	}
	if r.Status == conformance.StatusError {
		// The verifier reads the answer; this is for the person behind it.
		_, _ = fmt.Fprintln(f.Env.Stderr, OneLine(r.Message))
	}
	return exitSilently(r.Status.ExitCode())
}

// adapterAnswer runs the fixture in, unless the process is asked to end while it
// still waits for one.
func adapterAnswer(ctx context.Context, in io.Reader, a conformance.Adapter) (conformance.Result, error) {
	done := make(chan conformance.Result, 1)
	go func() { done <- a.Read(in) }()
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return conformance.Result{}, ctx.Err()
	}
}
