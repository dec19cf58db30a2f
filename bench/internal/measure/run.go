// Running a program through a copy of this one, and reading its cost.

package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is one program to run.
type Spec struct {
	Argv []string
	Dir  string
	Env  []string // added to the environment of this process
}

// Cost is the cost of one run.
type Cost struct {
	Wall time.Duration // start to reaped
	CPU  time.Duration // user and system time, with all processes it waited for
	Peak int64         // bytes resident, of its largest single process; 0 where unknown
	Exit int           // status; -1 when a signal ended it
}

const (
	launchVar = "AGENTXCHAIN_BENCH_LAUNCH" // set in the launching copy, holds its work as JSON
	costFD    = 3                          // where the copy reports
)

// Output is what a program printed.
type Output struct{ Stdout, Stderr []byte }

// Launched must be called at the very start of main, or of TestMain: in the copy that Run starts it
// runs the command and ends the process.
func Launched() {
	work := os.Getenv(launchVar)
	if work == "" {
		return
	}
	if err := launch(work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func launch(work string) error {
	if err := os.Unsetenv(launchVar); err != nil {
		return err
	}
	var argv []string
	if err := json.Unmarshal([]byte(work), &argv); err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	begin := time.Now()
	err := cmd.Run()
	wall := time.Since(begin)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	s := cmd.ProcessState
	report := os.NewFile(costFD, "cost")
	defer func() { _ = report.Close() }()
	return json.NewEncoder(report).Encode(Cost{
		Wall: wall,
		CPU:  s.UserTime() + s.SystemTime(),
		Peak: peak(s),
		Exit: s.ExitCode(),
	})
}

// Run runs a program once. A failure of the program is not an error: Cost.Exit
// says so.
func Run(s Spec) (Cost, Output, error) {
	var c Cost
	work, err := json.Marshal(s.Argv)
	if err != nil {
		return c, Output{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return c, Output{}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return c, Output{}, err
	}
	defer func() { _ = r.Close() }()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(self)
	cmd.Dir, cmd.Env = s.Dir, append(append(os.Environ(), s.Env...), launchVar+"="+string(work))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &stdout, &stderr, []*os.File{w}
	err = cmd.Run()
	_ = w.Close()
	out := Output{stdout.Bytes(), stderr.Bytes()}
	if err != nil {
		return c, out, fmt.Errorf("%s: %w: %s", strings.Join(s.Argv, " "), err, out.Stderr)
	}
	data, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, out, err
}

// MustSucceed is Run for a program that has to end with status 0.
func MustSucceed(s Spec) (Cost, Output, error) {
	c, out, err := Run(s)
	if err == nil && c.Exit != 0 {
		err = fmt.Errorf("%s ended with status %d: %s", strings.Join(s.Argv, " "), c.Exit, out.Stderr)
	}
	return c, out, err
}

// GitProcesses runs the program once, untimed, and counts the git processes it starts: a script in
// dir, an empty directory, precedes git on the PATH. Git's own traces would not do, because the
// program hides their variable from git.
func GitProcesses(s Spec, dir string) (int, Output, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return 0, Output{}, err
	}
	log := filepath.Join(dir, "started")
	script := fmt.Sprintf("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", log, git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		return 0, Output{}, err
	}
	s.Env = append(slices.Clip(s.Env), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, out, err := MustSucceed(s)
	if err != nil {
		return 0, out, err
	}
	data, err := os.ReadFile(log)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, out, nil
	}
	return bytes.Count(data, []byte("\n")), out, err
}
