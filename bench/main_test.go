// The frame of the benchmarks: the measured program, built once, and the loop that runs it and
// reports.

package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// program is git-agentxchain, built as it is released.
var program string

func TestMain(m *testing.M) {
	measure.Launched()
	flag.Parse()
	os.Exit(func() int {
		if flag.Lookup("test.bench").Value.String() == "" {
			return m.Run() // nothing will be measured, so nothing has to be built
		}
		dir, err := os.MkdirTemp("", "bench-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		program = filepath.Join(dir, "git-agentxchain")
		build := exec.Command("go", "build", "-tags=urfave_cli_no_docs", "-trimpath", "-ldflags=-s -w", "-o", program,
			"../cmd/git-agentxchain")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, as it is released
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// whole measures one command. prepare, if any, brings the project to where the command can run, and
// is not counted; it receives what the previous run printed, nil the first time.
func whole(b *testing.B, s measure.Spec, prepare func(last []byte) error) measure.Series {
	b.Helper()
	s.Env = append(s.Env, play.Environment()...)
	var last measure.Output
	ready := func() {
		if prepare == nil {
			return
		}
		if err := prepare(last.Stdout); err != nil {
			b.Fatal(err)
		}
	}
	ready()
	gits, first, err := measure.GitProcesses(s, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	last = first
	var runs measure.Series
	for b.Loop() {
		b.StopTimer()
		ready()
		b.StartTimer()
		var c measure.Cost
		if c, last, err = measure.MustSucceed(s); err != nil {
			b.Fatal(err)
		}
		runs = append(runs, c)
	}
	report(b, runs, gits)
	return runs
}

// report reports medians. ns/op is left out: it includes the launching copy.
func report(b *testing.B, runs measure.Series, gits int) {
	wall, peak := runs.Wall(), runs.Peak()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(wall.Median), "ms-median")
	b.ReportMetric(ms(wall.Min), "ms-min")
	b.ReportMetric(ms(runs.CPU().Median), "cpu-ms-median")
	b.ReportMetric(float64(peak.Median)/(1<<20), "MiB-peak")
	b.ReportMetric(float64(gits), "git-processes")
}

func ms[D ~int64](d D) float64 { return float64(d) / 1e6 }

// project makes a project of the given length: up to ten turns are really played, the rest is
// generated. Ten more are then played, so that the middle of a run is measured and not its
// adoption.
func project(b *testing.B, kind play.Kind, turns int) *play.Project {
	b.Helper()
	p, err := play.New(filepath.Join(b.TempDir(), "project"), program, kind)
	if err == nil {
		err = p.Turns(min(turns, 10))
	}
	if err == nil && turns > 10 {
		if err = p.Grow(turns); err == nil {
			err = p.Turns(10)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return p
}
