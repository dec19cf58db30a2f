// The runs that scripts leave behind are judged again: a configuration that equals the recorded one
// changes nothing in any of them.

package cli

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

// judgeScripts is the number of scripts of which one is judged, all in the long form.
const judgeScripts = 8

// judgedAgain judges every project below the work directory of a script, at its end. It leaves
// alone records that a script has damaged.
func judgedAgain(env *testscript.Env) {
	name := fnv.New32()
	_, _ = name.Write([]byte(filepath.Base(env.WorkDir)))
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "" && name.Sum32()%judgeScripts != 0 {
		return
	}
	var projects []string
	_ = filepath.WalkDir(env.WorkDir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case e.IsDir() && (e.Name() == ".git" || e.Name() == ".agentxchain"):
			return fs.SkipDir
		case e.Name() == wire.ConfigPath && e.Type().IsRegular():
			projects = append(projects, filepath.Dir(path))
		}
		return nil
	})
	judged := 0
	for _, dir := range projects {
		judged += judgedIn(env, dir)
	}
	if judged > 0 {
		env.T().Log(fmt.Sprintf("%d operations judged again", judged))
	}
}

func judgedIn(env *testscript.Env, dir string) (judged int) {
	ctx := context.Background()
	r, err := runner.Open(ctx, dir, runner.Options{})
	if err != nil {
		return 0
	}
	defer func() { _ = r.Close() }()
	runs, _ := r.RunIDs(ctx)
	for _, run := range runs {
		report, err := lookback.WhatIf(ctx, r, run, &lookback.OtherConfig{})
		if err != nil {
			continue
		}
		judged += report.Judged
		for _, d := range report.Differences {
			env.T().Log(fmt.Sprintf("run %s, %s %s: %s %s is %s, and was %s", run, d.Kind, d.Op, d.Rule, d.Subject,
				d.After, d.Before))
		}
		if len(report.Differences) > 0 {
			env.T().FailNow()
		}
	}
	return judged
}
