//go:build unix

package localcli

import (
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// TestStartIsToldFirst: a program's output is reported after its start, however soon it is read.
func TestStartIsToldFirst(t *testing.T) {
	var kinds []string
	w := newWatch(New(), &runtimes.Request{
		Runtime:  &config.Runtime{Raw: ojson.NewObject()},
		Config:   &config.Config{},
		Log:      io.Discard,
		Activity: func(a runtimes.Activity) { kinds = append(kinds, a.Type) },
	}, nil)
	read := make(chan error)
	go func() {
		_, err := io.WriteString(w.stream("stdout"), "one line\n")
		read <- err
	}()
	time.Sleep(50 * time.Millisecond) // the line has been read by now
	program := exec.Command("sleep", "60")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	w.attached(program.Process.Pid)
	if err := <-read; err != nil || !slices.Equal(kinds, []string{"starting", "output"}) {
		t.Errorf("told %v, %v", kinds, err)
	}
}
