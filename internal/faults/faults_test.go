// Tests of the fault points.
package faults

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]struct {
		name string
		n    int64
	}{
		"a.b":   {"a.b", 1},
		"a.b:3": {"a.b", 3},
		"a:b":   {"a:b", 1},
		"a:0":   {"a:0", 1},
		"a:-2":  {"a:-2", 1},
	} {
		p := parse(in)
		if p == nil || p.name != want.name || p.left.Load() != want.n {
			t.Errorf("parse(%q) = %+v, want %v", in, p, want)
		}
	}
	if parse("") != nil {
		t.Error("an empty variable armed a point")
	}
}

func TestHitCountsOnlyItsOwnName(t *testing.T) {
	died := 0
	die = func() { died++ }
	defer func() { die = kill }()
	p := parse("x:2")
	p.hit("y")
	p.hit("x")
	if died != 0 {
		t.Fatal("died at the first hit")
	}
	p.hit("x")
	p.hit("x")
	if died != 1 {
		t.Fatalf("died %d times, want once", died)
	}
}

func TestPointKillsTheProcess(t *testing.T) {
	if os.Getenv("FAULTS_CHILD") != "" {
		Point("other")
		Point("here")
		Point("here")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPointKillsTheProcess$")
	cmd.Env = append(os.Environ(), "FAULTS_CHILD=1", Env+"=here:2")
	err := cmd.Run()
	ee, ok := err.(*exec.ExitError)
	if !ok {
		t.Fatalf("child ended with %v, want a signal", err)
	}
	if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signal() != syscall.SIGKILL {
		t.Fatalf("child ended with %v", ws)
	}
}

func BenchmarkPointDisarmed(b *testing.B) {
	for b.Loop() {
		Point("x")
	}
}
