// Our code for build servers, run as they run it: the Action's steps and the component's script, in
// a shallow checkout, once green and once red.

package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"go.yaml.in/yaml/v3"
)

// job is a job of a build server.
type job struct {
	t    *testing.T
	env  map[string]string
	dir  string // the checkout
	base string
}

func (j *job) run(dir, command string, env map[string]string) (string, int) {
	j.t.Helper()
	cmd := exec.CommandContext(j.t.Context(), "bash", "-e", "-c", command)
	cmd.Dir = dir
	all := maps.Clone(j.env)
	maps.Copy(all, env)
	for k, v := range all {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		j.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func (j *job) must(dir, command string) string {
	j.t.Helper()
	out, status := j.run(dir, command, nil)
	if status != 0 {
		j.t.Fatalf("%s: %d\n%s", command, status, out)
	}
	return strings.TrimSpace(out)
}

// program builds git-agentxchain once, or uses the one that .ci/run has built.
func program(t *testing.T) string {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var built = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(scratch, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	return testrepo.Program(bin)
})

// scratch is where the program is, and the project of a finished run, each made once by a test.
var (
	scratch  string
	finished sync.Once
)

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "packaging"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(status)
}

// newJob makes a server with a finished run, on whose branch a person has added a file if red is
// set, and a runner's shallow checkout of it.
func newJob(t *testing.T, file string, red bool) *job {
	root := t.TempDir()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, dir: filepath.Join(root, "checkout"), env: map[string]string{
		"PATH":                filepath.Dir(file) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME":                root,
		"TMPDIR":              root,
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL":   os.DevNull,
		"GIT_AUTHOR_NAME":     "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
		"RUNNER_TEMP":         filepath.Join(root, "runner"),
		"GITHUB_ACTIONS":      "true",
		"GITHUB_ACTION_PATH":  source,
		"GITHUB_PATH":         filepath.Join(root, "path"),
		"GITHUB_STEP_SUMMARY": filepath.Join(root, "summary.md"),
	}}
	finished.Do(func() {
		j.must(scratch, "TMPDIR=$PWD git agentxchain demo --keep >demo && mv agentxchain-demo-*/greeter project")
	})
	j.must(root, "cp -a '"+scratch+"/project' project")
	project := filepath.Join(root, "project")
	if red {
		j.must(project, "echo by hand >by-hand.txt && git add -A && git commit -q -m 'by hand'")
	}
	j.base = j.must(project, "git rev-list --max-parents=0 HEAD")
	j.must(root, "git init -q --bare server && git -C server config uploadpack.allowAnySHA1InWant true")
	j.must(project, "git push -q ../server HEAD:refs/heads/work 'refs/agentxchain/*:refs/agentxchain/*' "+j.base+
		":refs/heads/main")
	j.must(root, "git init -q checkout && cd checkout && git remote add origin file://$PWD/../server && "+
		"git fetch -q --no-tags --depth=1 origin work && git checkout -q --detach FETCH_HEAD")
	return j
}

// action runs the steps of action.yml with the inputs, and returns what they printed and the status
// of the one that failed.
func (j *job) action(inputs map[string]string) (string, int) {
	j.t.Helper()
	data, err := os.ReadFile("../action.yml")
	if err != nil {
		j.t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run       string
				Env              map[string]string
				WorkingDirectory string `yaml:"working-directory"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		j.t.Fatal(err)
	}
	value := func(text string) string {
		name, ok := strings.CutPrefix(text, "${{ inputs.")
		if !ok {
			j.t.Fatalf("this runner knows inputs only, not %q", text)
		}
		name = strings.TrimSuffix(name, " }}")
		in, known := action.Inputs[name]
		if !known {
			j.t.Fatalf("there is no input %s", name)
		}
		if v, given := inputs[name]; given {
			return v
		}
		if strings.HasPrefix(in.Default, "${{ github.event.pull_request.base.sha ||") {
			return j.base
		}
		return in.Default
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 2 {
		j.t.Fatalf("the action is %+v", action.Runs)
	}
	all := ""
	for _, step := range action.Runs.Steps {
		env := make(map[string]string)
		for k, v := range step.Env {
			env[k] = value(v)
		}
		dir := j.dir
		if step.WorkingDirectory != "" {
			dir = filepath.Join(dir, value(step.WorkingDirectory))
		}
		out, status := j.run(dir, step.Run, env)
		all += out
		if status != 0 {
			return all, status
		}
		if added, err := os.ReadFile(j.env["GITHUB_PATH"]); err == nil {
			j.env["PATH"] = strings.TrimSpace(string(added)) + string(os.PathListSeparator) + j.env["PATH"]
		}
	}
	return all, 0
}

// archived returns a release's archive with the program and a NOTICE.
func archived(t *testing.T, file string) []byte {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	zip, err := gzip.NewWriterLevel(&archive, gzip.BestSpeed) // with the race detector the default takes half a minute
	if err != nil {
		t.Fatal(err)
	}
	tape := tar.NewWriter(zip)
	for name, content := range map[string][]byte{"git-agentxchain": data, "NOTICE": []byte("notice\n")} {
		if err := tape.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tape.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// release serves an archive like the project's releases, and returns the inputs that install it.
func release(t *testing.T, file string) map[string]string {
	archive := archived(t, file)
	path := fmt.Sprintf("/v0.1.0/git-agentxchain_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(archive)
	return map[string]string{"version": "0.1.0", "sha256": hex.EncodeToString(sum[:]), "releases": server.URL}
}

func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s", name)
		}
	}
}

func TestAction(t *testing.T) {
	testrepo.Thorough(t)
	needs(t, "bash", "curl", "tar")
	file := program(t)
	inputs := release(t, file)

	green := newJob(t, file, false)
	if out, status := green.action(inputs); status != 0 {
		t.Errorf("the finished run: expected 0, got %d\n%s", status, out)
	}
	if data, err := os.ReadFile(green.env["GITHUB_STEP_SUMMARY"]); err != nil ||
		!strings.Contains(string(data), "All of it passes") {
		t.Errorf("the summary of the job is %q (%v)", data, err)
	}

	for name, value := range map[string]string{"version": "v0.1.0", "sha256": strings.ToUpper(inputs["sha256"])} {
		all := maps.Clone(inputs)
		all[name] = value
		if out, status := green.action(all); status != 0 {
			t.Errorf("%s %s: expected 0, got %d\n%s", name, value, status, out)
		}
	}

	bare := newJob(t, file, false)
	bare.must(filepath.Join(bare.env["HOME"], "server"),
		"git for-each-ref --format='delete %(refname)' refs/agentxchain | git update-ref --stdin")
	if out, status := bare.action(inputs); status != 3 ||
		!strings.Contains(out, "::error title=git-agentxchain::origin has no record of any run") {
		t.Errorf("runs that were not pushed: expected 3 and an annotation, got %d\n%s", status, out)
	}

	red := newJob(t, file, true)
	out, status := red.action(inputs)
	if status != 3 || !strings.Contains(out, "::error file=by-hand.txt,") {
		t.Errorf("a person's commit: expected 3 and an annotation, got %d\n%s", status, out)
	}
	red.must(filepath.Join(red.env["HOME"], "project"),
		`git checkout -q --detach `+red.base+` && echo '{"people":["*.txt"]}' >policy.json &&
		git add -A && git commit -q -m policy && git push -q ../server HEAD:refs/heads/rules`)
	red.base = red.must(filepath.Join(red.env["HOME"], "project"), "git rev-parse HEAD")
	inputs["policy"] = "policy.json"
	if out, status := red.action(inputs); status != 0 {
		t.Errorf("a policy that leaves the file to people: expected 0, got %d\n%s", status, out)
	}

	for name, change := range map[string]map[string]string{
		"It is not installed": {"sha256": strings.Repeat("0", 64)},
		"sha256 is missing":   {"sha256": ""},
		"cannot be download":  {"version": "9.9.9"},
		"a number such as":    {"version": "1;x"},
		"No base":             {"base": strings.Repeat("0", 40)},
		"none of origin":      {"base": strings.Repeat("1", 40)},
	} {
		all := maps.Clone(inputs)
		maps.Copy(all, change)
		if out, status := green.action(all); status != 2 || !strings.Contains(out, name) ||
			!strings.Contains(out, "::error") {
			t.Errorf("%v: expected 2 and %q, got %d\n%s", change, name, status, out)
		}
	}
}

// The component's script is the one that the GitLab page of docs/ci.md includes.
func TestComponent(t *testing.T) {
	testrepo.Thorough(t)
	needs(t, "bash")
	data, err := os.ReadFile("../templates/verify-range.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(data), "\n---\n")
	if !ok {
		t.Fatal("the component has no second document")
	}
	body = strings.NewReplacer("$[[ inputs.stage ]]", "test", "$[[ inputs.image ]]", "image",
		"$[[ inputs.policy ]]", `""`, "$[[ inputs.directory ]]", ".").Replace(body)
	var jobs map[string]struct {
		Script    []string
		Artifacts struct{ Reports map[string]string }
	}
	if err := yaml.Unmarshal([]byte(body), &jobs); err != nil {
		t.Fatal(err)
	}
	file := program(t)
	for _, c := range []struct {
		red, merged bool
		want        int
	}{{false, false, 0}, {true, false, 3}, {false, true, 0}, {true, true, 3}} {
		red, want := c.red, c.want
		j := newJob(t, file, red)
		delete(j.env, "GITHUB_ACTIONS")
		j.must(j.dir, "git fetch -q --unshallow && git fetch -q origin '+refs/heads/*:refs/remotes/origin/*'")
		j.env["CI_PROJECT_DIR"] = j.dir
		j.env["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = j.base
		j.env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "main"
		if c.merged { // the target branch has gone on, and the pipeline is for what merging would give
			j.must(j.dir, "git checkout -q origin/main && echo x >gone-on.txt && git add gone-on.txt && "+
				"git commit -q -m 'gone on' && git push -q origin HEAD:main && git merge -q --no-ff -m merged origin/work")
			j.env["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = j.must(j.dir, "git rev-parse HEAD^1")
		}
		out, status := j.run(j.dir, strings.Join(jobs["governed-work"].Script, "\n"), nil)
		if status != want {
			t.Errorf("red %v: expected %d, got %d\n%s", red, want, status, out)
		}
		report, err := os.ReadFile(filepath.Join(j.dir, jobs["governed-work"].Artifacts.Reports["codequality"]))
		if err != nil || bytes.Contains(report, []byte("by-hand.txt")) != red {
			t.Errorf("red %v: the report is %s (%v)", red, report, err)
		}
	}
}

// npm installs the packages of a release, and git finds the program.
func TestNpm(t *testing.T) {
	testrepo.Thorough(t)
	needs(t, "bash", "npm", "node", "tar")
	root := t.TempDir()
	file := program(t)
	dist := filepath.Join(root, "dist")
	if err := os.Mkdir(dist, 0o777); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("git-agentxchain_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	if err := os.WriteFile(filepath.Join(dist, name), archived(t, file), 0o666); err != nil {
		t.Fatal(err)
	}
	build, err := filepath.Abs("npm/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, env: map[string]string{
		"PATH":                       os.Getenv("PATH"),
		"HOME":                       root,
		"npm_config_update_notifier": "false",
	}}
	j.must(root,
		"'"+build+"' 0.1.0 dist out && for p in out/*; do npm pack --silent \"./$p\"; done && mkdir try && cd try && "+
			"npm init -y >/dev/null && npm install --silent --offline --no-audit --no-fund ../*.tgz")
	j.env["PATH"] = filepath.Join(root, "try", "node_modules", ".bin") + string(os.PathListSeparator) + j.env["PATH"]
	want := j.must(root, "'"+file+"' version")
	if got := j.must(root, "git agentxchain version"); got != want {
		t.Errorf("expected %q, got %q", want, got)
	}
	if out, status := j.run(root, "git-agentxchain nonsense", nil); status != 2 {
		t.Errorf("an unknown command: expected 2, got %d\n%s", status, out)
	}
	j.must(root, "git init -q try/project && git -C try/project agentxchain init --yes")
	out, status := j.run(root, "git-agentxchain -C try/project dashboard --no-open >said & launcher=$!\n"+
		"until grep -q http said; do kill -0 $launcher || exit 1; sleep 0.1; done\n"+
		"kill -TERM $launcher; wait $launcher; echo ended with $?", nil)
	if status != 0 || !strings.Contains(out, "ended with 0") {
		t.Errorf("a signal for the launcher alone: expected the program to end, got %d\n%s", status, out)
	}
	j.must(root, "rm -r try/node_modules/@git-agentxchain")
	if out, status := j.run(root, "git-agentxchain version", nil); status != 2 ||
		!strings.Contains(out, "is not installed") {
		t.Errorf("without the program: expected 2, got %d\n%s", status, out)
	}
}
