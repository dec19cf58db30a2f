// audit: an account of the run, or the initiative, as it is now.

package prove

import (
	"context"
	"errors"
	"fmt"
	"io"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewAuditCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "audit",
		Category: shared.CategoryMove,
		Usage:    "report on the run as it is now: text, json, markdown or html",
		Description: "Reports on the project, or the coordinator's workspace, around the current directory, as " +
			"report does on an artifact. It reads the governed files in one moment under the run's lock and " +
			"verifies them, as export does; for a run it also checks the recorded operations, as fsck does. Exit " +
			"status: 0 reported, 1 a ledger was rewritten or the record does not verify, 2 there is nothing to " +
			"report on.",
		Flags: reportFlags(),
		Action: func(c *ucli.Context) error {
			o, err := reportOptionsFrom(c, f)
			if err != nil {
				return err
			}
			return runAudit(c.Context, f, o)
		},
	}
}

func runAudit(ctx context.Context, f *term.Factory, o *reportOptions) error {
	if err := reportPlace(f, o); err != nil {
		return err
	}
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	a, err := liveArtifact(ctx, f, dir)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return writeReport(f, o, liveFailure(dir, err))
	}
	doc := account.Build(a, dir, account.Options{Now: f.Now(), AllRuns: o.AllRuns})
	if a.Kind == restore.KindRun && doc.String("overall") == "pass" {
		chain, err := checkChain(ctx, f)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if chain != nil {
			doc.Set("chain", chain)
		}
		if err := writeReport(f, o, doc); err != nil || chain == nil || chain.Bool("clean") {
			return err
		}
		return term.ErrFindings()
	}
	return writeReport(f, o, doc)
}

// liveFailure returns the report when there is no artifact: nothing governed exists, or it was
// changed without a record.
func liveFailure(name string, err error) *ojson.Object {
	message := err.Error()
	if coded, ok := errors.AsType[term.CodedError](err); ok {
		if coded.ErrorHint() != "" {
			message += " (" + coded.ErrorHint() + ")"
		}
		if term.ExitStatus(coded.ErrorCode()) == term.ExitIntegrity {
			return account.Contradiction(name, message)
		}
	}
	doc := account.Failure(name, message)
	doc.Set("error", term.ErrorObject(err))
	return doc
}

// liveArtifact exports what is governed around dir into a temporary file and reads it like an
// artifact from elsewhere.
func liveArtifact(ctx context.Context, f *term.Factory, dir string) (*account.Artifact, error) {
	progress := f.Out.Progress("reading, files", 0)
	e, err := restore.Prepare(ctx, dir, restore.ExportOptions{
		Now:      f.Now,
		From:     dir,
		Progress: func(done, _ int) { progress.Step(done) },
	})
	progress.Done()
	if err != nil {
		return nil, err
	}
	defer e.Close()
	for _, n := range e.Notices {
		f.Out.Warn("%s", term.OneLine(n))
	}
	// The artifact goes through a pipe: it is never completely in memory.
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := e.WriteTo(w)
		_ = w.CloseWithError(err)
	}()
	a, err := readArtifact(ctx, f, r, 0, false)
	_ = r.Close()
	<-done
	return a, err
}

// checkChain returns fsck's verdict on the run: {clean, operations, verdict, findings}; nil when
// there is no record to check.
func checkChain(ctx context.Context, f *term.Factory) (*ojson.Object, error) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	found, err := r.Record().Fsck(ctx, runner.FsckOptions{})
	if err != nil || found.Runs == 0 {
		return nil, err
	}
	findings := []string{}
	for i := range found.Findings {
		if v := &found.Findings[i]; !v.Note {
			findings = append(findings, v.Message)
		}
	}
	verdict := fmt.Sprintf("%s checked, nothing wrong", term.Counted(found.Ops, "operation"))
	if !found.Clean() {
		verdict = fmt.Sprintf("%s checked, %s; git agentxchain fsck tells more", term.Counted(found.Ops, "operation"),
			term.Counted(len(findings), "finding"))
	}
	return ojson.NewObject("clean", found.Clean(), "operations", found.Ops, "verdict", verdict, "findings", findings),
		nil
}
