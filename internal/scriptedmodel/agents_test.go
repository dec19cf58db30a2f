// Tests with the real agents, each from init to a completed run, with a scripted model behind them.

package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// setting makes an agent talk to our server and nothing else: files below its home directory, and its environment.
// @URL@ is the server's address.
type setting struct {
	files map[string]string
	env   []string
	mute  bool // it does not report the tokens it used
}

var settings = map[string]setting{
	"claude": {env: []string{
		"ANTHROPIC_BASE_URL=@URL@", "ANTHROPIC_API_KEY=no-key-is-used", "ANTHROPIC_MODEL=claude-sonnet-4-5",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}},
	"codex": {
		files: map[string]string{".codex/config.toml": "model = \"scripted\"\nmodel_provider = \"scripted\"\n" +
			"[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"@URL@/v1\"\nwire_api = \"responses\"\n" +
			"env_key = \"SCRIPTED_KEY\"\n[analytics]\nenabled = false\n"},
		env: []string{"SCRIPTED_KEY=no-key-is-used"},
	},
	"gemini": {
		files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}},
			"privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}`},
		env: []string{"GOOGLE_GEMINI_BASE_URL=@URL@", "GEMINI_API_KEY=no-key-is-used", "GEMINI_MODEL=gemini-2.5-flash",
			"GEMINI_TELEMETRY_ENABLED=false"},
	},
	"qwen": {
		files: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}},
			"privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}}`},
		env: []string{"OPENAI_API_KEY=no-key-is-used", "OPENAI_BASE_URL=@URL@/v1", "OPENAI_MODEL=scripted"},
	},
	"copilot": {mute: true, env: []string{
		"COPILOT_PROVIDER_BASE_URL=@URL@/v1", "COPILOT_PROVIDER_API_KEY=no-key-is-used", "COPILOT_MODEL=scripted",
		"COPILOT_AUTO_UPDATE=false", "COPILOT_OFFLINE=true",
	}},
	"opencode": {
		files: map[string]string{".config/opencode/opencode.json": `{"model": "scripted/m", "small_model": "scripted/m",
			"autoupdate": false, "share": "disabled", "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
			"options": {"baseURL": "@URL@/v1", "apiKey": "no-key-is-used"}, "models": {"m": {"name": "m"}}}}}`},
		env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
	},
}

// TestAgentsCarryARun needs the agents in the directories of AGENTXCHAIN_TEST_AGENTS. Each starts with an empty
// environment and its own home directory; it uses no key, setting or network of the person running the tests.
func TestAgentsCarryARun(t *testing.T) {
	testrepo.Thorough(t)
	dirs := os.Getenv("AGENTXCHAIN_TEST_AGENTS")
	if dirs == "" {
		t.Skip("AGENTXCHAIN_TEST_AGENTS names no directory with agents")
	}
	program := programDir(t)
	for _, a := range scaffold.Agents() {
		if !a.Tested {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			if !found(dirs, a.Command[0]) {
				t.Skipf("%s is not in %s", a.Command[0], dirs)
			}
			carry(t, a.ID, dirs, program)
		})
	}
}

func found(dirs, name string) bool {
	for _, dir := range filepath.SplitList(dirs) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// programDir returns a directory with our program.
func programDir(t *testing.T) string {
	t.Helper()
	file, err := testrepo.Program(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(file)
}

// world is a repository and a person with one agent.
type world struct {
	t   *testing.T
	dir string
	env []string
}

// newWorld creates a home directory with an empty repository. A program's environment is extra plus what it cannot
// start without.
func newWorld(t *testing.T, dirs, program string, extra []string) *world {
	home := t.TempDir()
	w := &world{t: t, dir: filepath.Join(home, "project"), env: append([]string{
		"HOME=" + home, "TERM=dumb", "TMPDIR=" + filepath.Join(home, "tmp"), // Codex refuses a home below TMPDIR
		"LC_ALL=C.UTF-8", "NO_PROXY=127.0.0.1", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + strings.Join([]string{program, dirs, filepath.Dir(lookPath(t, "node")), "/usr/local/bin", "/usr/bin",
			"/bin"}, ":"),
	}, extra...)}
	put(t, filepath.Join(home, ".gitconfig"),
		"[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
	for _, dir := range []string{w.dir, filepath.Join(home, "tmp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "git", "init", "-q")
	return w
}

func carry(t *testing.T, agent, dirs, program string) {
	script, err := os.ReadFile("testdata/worker.sh")
	if err != nil {
		t.Fatal(err)
	}
	var worker string
	model := &Server{Log: t.Logf, Command: func(text string) string {
		if !strings.Contains(text, "## This repository is governed") {
			t.Errorf("%s did not read the text that agents install wrote", agent)
		}
		return command(worker, text)
	}}
	server := httptest.NewServer(model)
	defer server.Close()

	s := settings[agent]
	var env []string
	for _, kv := range s.env {
		env = append(env, strings.ReplaceAll(kv, "@URL@", server.URL))
	}
	w := newWorld(t, dirs, program, env)
	// Copilot starts nothing outside the project and TMPDIR
	worker = filepath.Join(filepath.Dir(w.dir), "tmp", "worker.sh")
	put(t, worker, string(script))
	for name, text := range s.files {
		put(t, filepath.Join(filepath.Dir(w.dir), name), strings.ReplaceAll(text, "@URL@", server.URL))
	}
	w.run(0, "git", "agentxchain", "init", "--agent", agent, "--goal", "Count words", "--yes")
	w.run(0, "git", "agentxchain", "agents", "install")
	w.run(0, "git", "add", "-A")
	w.run(0, "git", "commit", "-q", "-m", "governed project")
	w.run(0, "git", "agentxchain", "hooks", "trust", "--yes")

	w.run(0, "git", "agentxchain", "run") // planning, until a person is needed
	w.run(0, "git", "agentxchain", "approve", "--yes")
	w.run(0, "git", "agentxchain", "run") // implementation and qa
	w.run(0, "git", "agentxchain", "approve", "--yes")

	var status struct {
		State struct {
			Status string `json:"status"`
		} `json:"state"`
		Status string `json:"status"`
	}
	out := w.run(0, "git", "agentxchain", "status", "--json")
	if err := json.Unmarshal(out, &status); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if status.Status != "completed" && status.State.Status != "completed" {
		t.Errorf("the run is not completed:\n%s", out)
	}
	w.run(0, "git", "agentxchain", "fsck", "--replay")
	if history := w.run(0, "git", "agentxchain", "history"); bytes.Count(history, []byte("turn_")) != 3 {
		t.Errorf("three turns were wanted:\n%s", history)
	}
	// Two requests per turn, each reported as 100 tokens in and 10 out; the result says 0.
	reported := 3
	if s.mute {
		reported = 0
	}
	cost := w.run(0, "sh", "-c", "cat .agentxchain/history.jsonl")
	if n := bytes.Count(cost, []byte(`"input_tokens":200,"output_tokens":20`)); n != reported {
		t.Errorf("%d turns have the tokens that the agent reported, wanted %d:\n%s", n, reported, cost)
	}
	if model.Calls() != 3 {
		t.Errorf("the model was asked for %d commands, wanted 3", model.Calls())
	}
	w.run(0, "sh", "count_test.sh")
	if dirty := w.run(0, "git", "status", "--porcelain"); len(dirty) > 0 {
		t.Errorf("the agent left files that no turn accounts for:\n%s", dirty)
	}
}

var assignment = regexp.MustCompile(
	`(?s)\((pm|dev|qa|eng_director)\).*?\*\*Run:\*\* (run_\w+)\s.*?\*\*Turn:\*\* (turn_\w+)\s` +
		`.*?\*\*Phase:\*\* (\w+)\s.*?\*\*Runtime:\*\* (\w+)\s`)

// command returns the command that the model would request, read from the prompt as a model would.
func command(worker, text string) string {
	m := assignment.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.Join([]string{"sh", worker, m[2], m[3], m[1], m[5], m[4]}, " ")
}

func (w *world) run(want int, name string, args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Path = lookIn(w.env, name)
	cmd.Dir, cmd.Env = w.dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		logs, _ := filepath.Glob(filepath.Join(w.dir, ".agentxchain/dispatch/*/*/*.log"))
		for _, l := range logs {
			data, _ := os.ReadFile(l)
			w.t.Logf("%s\n%s", l, data[max(0, len(data)-4000):])
		}
		w.t.Fatalf("%s ended with %d, wanted %d\n%s%s", strings.Join(cmd.Args, " "), got, want, stdout.Bytes(),
			stderr.Bytes())
	}
	return stdout.Bytes()
}

func lookIn(env []string, name string) string {
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			if p := filepath.Join(dir, name); ok {
				if fi, err := os.Stat(p); err == nil && fi.Mode()&0o111 != 0 {
					return p
				}
			}
		}
	}
	return name
}

func lookPath(t *testing.T, name string) string {
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return p
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
