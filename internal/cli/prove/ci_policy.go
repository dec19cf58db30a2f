// The meaning of a configuration change, for a build: the cases of the project, and the recorded
// history under the agentxchain.json of the work tree.

package prove

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/whatif"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/ci"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

// policySections returns the suites of ci-report about the configuration, and the same as data. It
// leaves out what is unknown for lack of a record.
func policySections(ctx context.Context, f *term.Factory) ([]ci.Suite, *ojson.Object) {
	data := &ojson.Object{}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil, data // the report says so
	}
	var suites []ci.Suite
	if results, err := whatif.PolicyTests(ctx, r, &lookback.OtherConfig{}, nil); err == nil && len(results) > 0 {
		suite, list, failed := whatif.CaseSuite(results)
		suites = append(suites, suite)
		data.Set("policy_tests", ojson.NewObject("cases", list, "failed", failed))
	}
	document, err := os.ReadFile(filepath.Join(r.Record().Dir(), wire.ConfigPath))
	if err != nil {
		return suites, data
	}
	runs, err := r.RunIDs(ctx)
	if err != nil || len(runs) == 0 {
		return suites, data
	}
	suite := ci.Suite{Name: "What if", Class: "agentxchain.whatif"}
	list := []*ojson.Object{}
	for _, run := range runs {
		report, err := lookback.WhatIf(ctx, r, run, &lookback.OtherConfig{Document: document})
		c := ci.Case{
			Name:    "run " + term.OneLine(run) + " under " + wire.ConfigPath,
			Outcome: ci.Passed,
			File:    wire.ConfigPath,
		}
		switch {
		case err != nil:
			c.Outcome, c.Message = ci.Broken, term.OneLine(err.Error())
		case report.Refused > 0:
			c.Outcome = ci.Failed
			c.Message = fmt.Sprintf(
				"work that was accepted would have been refused: %s; git agentxchain whatif --config %s --run %s",
				term.Counted(report.Refused, "operation"), wire.ConfigPath, term.OneLine(run))
		}
		if report != nil {
			list = append(list, report.Object())
		}
		suite.Cases = append(suite.Cases, c)
	}
	data.Set("what_if", list)
	return append(suites, suite), data
}
