// Tests of running git: errors, bounds, cancellation, environment.

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestRunFailureCarriesGitsWords(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	_, err := NewGit(r.Dir).Run(context.Background(), nil, "cat-file", "-p", "nonsense")
	var ge *GitError
	if fail.CodeOf(err) != fail.CodeGitFailed || !errors.As(err, &ge) {
		t.Fatal(err)
	}
	if ge.ExitCode != 128 || ge.Args[0] != "cat-file" || !strings.Contains(ge.Stderr, "nonsense") {
		t.Fatalf("%+v", ge)
	}
	if s := err.Error(); !strings.Contains(s, "cat-file") || strings.Contains(s, "\n") {
		t.Fatalf("message %q", s)
	}
}

func TestAFullDiskHasAHint(t *testing.T) {
	left := exec.Command("git", "no-such-command").Run()
	g := &Git{Dir: "/there"}
	err := g.Failure([]string{"update-ref"}, left, "fatal: unable to write new index file: No space left on device")
	var e *fail.Error
	if !errors.As(err, &e) || e.Hint != "the file system of /there is full: make room there, then again" {
		t.Errorf("%+v", err)
	}
	if err := g.Failure([]string{"update-ref"}, left, "fatal: no"); errors.As(err, &e) && e.Hint != "" {
		t.Errorf("%+v", e)
	}
}

func TestRunWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := NewGit(".").Run(context.Background(), nil, "version")
	if fail.CodeOf(err) != fail.CodeGitMissing {
		t.Fatal(err)
	}
	if _, err := Discover(context.Background(), "."); fail.CodeOf(err) != fail.CodeGitMissing {
		t.Fatal(err)
	}
}

// If a directory disappears while a service works in it, the error must name the directory, not git.
func TestRunInADirectoryThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "moved")
	_, err := NewGit(dir).Run(context.Background(), nil, "version")
	var said *fail.Error
	if fail.CodeOf(err) != fail.CodeNotRepository || !errors.As(err, &said) || said.Hint == "" {
		t.Fatal(err)
	}
	if s := err.Error(); strings.Contains(s, "fork") || !strings.Contains(s, dir) {
		t.Fatalf("message %q", s)
	}
}

func TestRunBoundsOutput(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	g := NewGit(r.Dir)
	g.MaxOutput = 1000
	if _, err := g.Run(context.Background(), []byte(strings.Repeat("x\n", 5000)),
		"stripspace"); fail.CodeOf(err) != fail.CodeOutputTooLarge {
		t.Fatal(err)
	}
	if out, err := g.Run(context.Background(), []byte(strings.Repeat("x\n", 500)), "stripspace"); err != nil ||
		len(out) != 1000 {
		t.Fatal(len(out), err)
	}
}

// waitForText returns once a file is not empty.
func waitForText(file string) {
	for {
		if b, err := os.ReadFile(file); err == nil && len(b) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Cancelling ends git and its children, even one that holds the pipes.
func TestRunCancel(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	mark := filepath.Join(t.TempDir(), "pid")
	r.Git("config", "alias.hang", "!echo $$ > '"+mark+"'; sleep 600 & sleep 600")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	go func() {
		waitForText(mark)
		cancel(why)
	}()
	_, err := NewGit(r.Dir).Run(ctx, nil, "hang")
	if !errors.Is(err, why) {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(mark)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; process.Alive(pid) && !process.Dead(pid); i++ {
		if i > 5000 {
			t.Fatal("a child of the cancelled git lives on")
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := NewGit(r.Dir).Run(ctx, nil, "version"); !errors.Is(err, why) {
		t.Fatalf("started with an ended context: %v", err)
	}
}

// A signal to our whole group may end a git that was just started before the signal reaches us.
func TestRunEndedByOurSignal(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	mark := filepath.Join(t.TempDir(), "mark")
	r.Git("config", "alias.ended", "!echo x > '"+mark+"'; kill -TERM $PPID")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	go func() {
		waitForText(mark)
		time.Sleep(10 * time.Millisecond)
		cancel(why)
	}()
	if _, err := NewGit(r.Dir).Run(ctx, nil, "ended"); !errors.Is(err, why) {
		t.Fatal(err)
	}
	if _, err := NewGit(r.Dir).Run(context.Background(), nil, "ended"); fail.CodeOf(err) != fail.CodeGitFailed {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	r, other := testrepo.New(t, testrepo.Options{}), testrepo.New(t, testrepo.Options{})
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(r.Dir, "partial-index"))
	t.Setenv("GIT_GLOB_PATHSPECS", "1")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "agentxchain.test")
	t.Setenv("GIT_CONFIG_VALUE_0", "kept")
	own, foreign := NewGit(r.Dir), NewForeignGit(other.Dir)
	for _, kv := range []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1"} {
		if !slices.Contains(own.Env, kv) || !slices.Contains(foreign.Env, kv) {
			t.Errorf("%s is not set", kv)
		}
	}
	has := func(g *Git, k string) bool {
		return slices.ContainsFunc(g.Env, func(kv string) bool { return strings.HasPrefix(kv, k+"=") })
	}
	if has(own, "GIT_GLOB_PATHSPECS") {
		t.Error("a pathspec switch that conflicts with ours was kept")
	}
	if !has(own, "GIT_INDEX_FILE") {
		t.Error("a partial commit's index was dropped")
	}
	ctx := context.Background()
	out, err := foreign.Run(ctx, nil, "rev-parse", "--path-format=absolute", "--git-dir")
	if err != nil || strings.TrimSpace(string(out)) != filepath.Join(other.Dir, ".git") {
		t.Errorf("foreign git works in %s, %v", out, err)
	}
	for _, g := range []*Git{own, foreign} {
		if out, err := g.Run(ctx, nil, "config", "agentxchain.test"); err != nil || string(out) != "kept\n" {
			t.Errorf("the user's -c settings are lost: %q %v", out, err)
		}
	}
	// Our list contains at least what the installed git names.
	names, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Fatal(err)
	}
	for n := range strings.FieldsSeq(string(names)) {
		if !slices.Contains(LocalEnvVars, n) && n != "GIT_CONFIG_PARAMETERS" && n != "GIT_CONFIG_COUNT" {
			t.Errorf("%s ties git to a repository and is not dropped", n)
		}
	}
}

// A list of settings in the environment is read as git reads it, but without programs.
func TestGivenSettings(t *testing.T) {
	testrepo.Isolate()
	for _, text := range []string{
		`'agentxchain.a=b'`, `'agentxchain.a'='b'`, `'agentxchain.a'=`,
		`'agentxchain.a=it'\''s'  'agentxchain.b'='x=y'`,
		`'agentxchain.sub.with=sign.a'='b'`, `'agentxchain.a=b`, `nonsense`, ``, `'agentxchain.a'='b'\!'c'`,
	} {
		cmd := exec.Command("git", "config", "--list", "-z")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "GIT_CONFIG_PARAMETERS="+text)
		out, err := cmd.Output()
		got := parseGiven(text)
		if err != nil {
			continue // git refuses malformed lists; we keep the well-formed part
		}
		var want []gitconfig.Entry
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if entry == "" {
				continue
			}
			key, value, ok := strings.Cut(entry, "\n")
			if !ok {
				value = "true"
			}
			want = append(want, gitconfig.Entry{Key: key, Value: value})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, git says %q", text, got, want)
		}
	}
	env := []string{"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=Core.SSHCommand", "GIT_CONFIG_VALUE_0=x",
		"GIT_CONFIG_KEY_1=user.name",
		"GIT_CONFIG_VALUE_1=Ada", "GIT_CONFIG_KEY_2=filter.A.clean", "GIT_CONFIG_VALUE_2=x",
		`GIT_CONFIG_PARAMETERS='alias.status=!x' 'core.quotePath=false'`}
	if got := givenSettings(env); !slices.Equal(got,
		[]gitconfig.Entry{{Key: "user.name", Value: "Ada"}, {Key: "core.quotePath", Value: "false"}}) {
		t.Errorf("%q", got)
	}
}

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]Version{
		"git version 2.39.5\n":               {2, 39, 5},
		"git version 2.39.5 (Apple Git-154)": {2, 39, 5},
		"git version 2.45.0.windows.1":       {2, 45, 0},
		"git version 2.55.0.rc1.12.gabc":     {2, 55, 0},
		"git version 3.0":                    {3, 0, 0},
		"git version 2.55.GIT":               {2, 55, 0},
	} {
		if got, ok := parseVersion(in); !ok || got != want {
			t.Errorf("%q: %v %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "git", "git version ", "git version x", "hg 4.0"} {
		if v, ok := parseVersion(in); ok {
			t.Errorf("%q: %v", in, v)
		}
	}
	v, err := NewGit(".").Version(context.Background())
	if err != nil || !v.AtLeast(2, 20) || v.AtLeast(99, 0) {
		t.Errorf("%v %v", v, err)
	}
}
