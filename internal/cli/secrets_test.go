// Secrets of every kind, planted in every source, appear nowhere they must not.

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets/secretstest"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// sink is a place that is searched.
type sink struct {
	name string
	data []byte
}

// secretSources maps the sources of secrets to the places where they may appear: when a person or an agent writes
// them into the work itself they are in the record of that work.
var secretSources = map[string][]string{
	"environment":   nil,
	"agent output":  nil,
	"hook output":   nil,
	"result":        {"files", "objects", "output", "dashboard"},
	"reason":        {"files", "objects", "output", "dashboard"},
	"configuration": {"files", "objects", "output", "dashboard"},
	"prompt":        {"files", "objects"},
}

func TestSecretsStayOut(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.InMemory()
	asAda(t)
	root := t.TempDir()
	dir, plants := filepath.Join(root, "p"), mkdirAll(t, root, "plants")
	planted := make(map[string][]secretstest.Token)
	text := make(map[string]string)
	for source := range secretSources {
		planted[source] = secretstest.Tokens(source)
		for _, k := range planted[source] {
			text[source] += k.Text + "\n"
		}
		writeText(t, filepath.Join(plants, strings.ReplaceAll(source, " ", "-")), text[source])
	}
	if n := len(planted["result"]); n < 30 {
		t.Fatalf("%d kinds", n)
	}
	for i, k := range planted["environment"] {
		t.Setenv(fmt.Sprintf("SERVICE_%d_TOKEN", i), k.Text)
	}
	quoted := func(s string) string { return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"` }
	mustAt(t, root, "project", "p", "approval_policy=", "policies=",
		"workflow_kit={}", "rules.challenge_required=false", "gates={}",
		`runtimes.sh={"type":"local_cli","command":["sh","agent.sh"]}`,
		"roles.dev.runtime=sh", "roles.dev.mandate="+quoted("Build it. "+text["configuration"]),
		`routing={"build":{"entry_role":"dev","allowed_next_roles":["dev","human"]}}`,
		`hooks={"before_assignment":[{"name":"loud","type":"process","mode":"advisory","timeout_ms":5000,"command":["sh","hook.sh"]}]}`)
	writeText(t, filepath.Join(dir, "agent.sh"), agentThatTells)
	writeText(t, filepath.Join(dir, "hook.sh"), "cat "+plants+"/hook-output >&2\ncat "+plants+"/hook-output\nexit 1\n")
	prompt := filepath.Join(dir, ".agentxchain", "prompts", "dev.md")
	writeText(t, prompt, "# Dev\n\n"+text["prompt"])
	mustAt(t, dir, "git", "add", "-A")
	mustAt(t, dir, "git", "commit", "-q", "-m", "agents")
	t.Setenv("PLANTS", plants)

	var sinks []sink
	traced := exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() == nil
	if !traced {
		t.Log("no strace here: the arguments of started programs are not looked at")
	}
	n := 0
	run := func(args ...string) {
		t.Helper()
		words := append([]string{"git-agentxchain"}, args...)
		trace := filepath.Join(root, fmt.Sprint("trace", n))
		if n++; traced {
			words = append([]string{"strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-s", "1000000",
				"-o", trace}, words...)
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "AGENTXCHAIN_DEBUG=1", "NO_COLOR=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if _, err := exitOf(cmd); err != nil {
			t.Fatal(err)
		}
		sinks = append(sinks, sink{"output of " + strings.Join(args[:min(2, len(args))], " "), out.Bytes()})
		if !traced {
			return
		}
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ = bytes.Cut(data, []byte("\n")) // what the test itself has passed
		sinks = append(sinks, sink{"arguments of " + args[0], data})
	}
	run("hooks", "trust", "--yes")
	run("step")
	mustAt(t, dir, "git", "add", "-A")
	writeText(t, filepath.Join(dir, ".git", "again"), "")
	run("step")
	run("assign", "dev")
	run("reject", "--reason", text["reason"])
	run("escalate", "--reason", text["reason"])
	run("unblock", "--reason", text["reason"])
	for _, line := range []string{"status --json", "status", "history --json", "decisions", "events --json",
		"escalations", "log --json", "show --raw state", "show",
		"turn show", "turn show --artifact prompt", "turn log", "timeline --json", "audit", "explain hook_failed",
		"doctor --json", "validate", "fsck --replay",
		"hooks show", "config show", "policy test", "simulate", "attest", "approvals", "monarchic export",
		"export -o ../refused.json", "export --bundle ../refused.bundle -o ../r.json"} {
		run(strings.Fields(line)...)
	}
	for _, name := range []string{"refused.json", "refused.bundle", "r.json"} {
		if data, err := os.ReadFile(filepath.Join(root, name)); err == nil {
			sinks = append(sinks, sink{"export", data})
		}
	}
	sinks = append(sinks, dashboardPages(t, dir)...)
	sinks = append(sinks, filesOf(t, dir)...)
	sinks = append(sinks, sink{"objects",
		[]byte(mustAt(t, dir, "git", "cat-file", "--batch-all-objects", "--batch", "--buffer"))})

	around := make(map[string]string)
	seen := make(map[string][]string) // "source in place" -> kinds
	for _, source := range slices.Sorted(maps.Keys(planted)) {
		for _, k := range planted[source] {
			for _, s := range sinks {
				place, _, _ := strings.Cut(s.name, " ")
				if bytes.Contains(s.data, []byte(k.Value)) && !slices.Contains(secretSources[source], place) {
					at := source + " in " + s.name
					if seen[at] = append(seen[at], k.Kind); len(seen[at]) == 1 {
						i := bytes.Index(s.data, []byte(k.Value))
						around[at] = string(s.data[max(0, i-150):min(len(s.data), i+len(k.Value)+50)])
					}
				}
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(seen)) {
		t.Errorf("%s: %d kinds: %v\nsuch as %q", at, len(seen[at]), seen[at], around[at])
	}
	places := make(map[string]int)
	for _, s := range sinks {
		place, _, _ := strings.Cut(s.name, " ")
		places[place]++
	}
	if t.Logf("%d kinds of secret, looked for in %v", len(planted["result"]), places); len(sinks) < 80 {
		t.Errorf("only %d places were looked at", len(sinks))
	}
}

// dashboardPages returns the pages and answers of a dashboard that links and lists lead to.
func dashboardPages(t *testing.T, dir string) (out []sink) {
	t.Helper()
	cmd := exec.Command("git-agentxchain", "dashboard", "--no-open", "--port", "0", "--json")
	cmd.Dir = dir
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadBytes('\n')
	session, derr := ojson.DecodeObject(line)
	if err != nil || derr != nil {
		t.Fatalf("%v %v %s", err, derr, &errs)
	}
	port, _ := session.Int("port")
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	seen, todo := map[string]bool{"/events": true}, []string{"/"}
	for _, name := range []string{"state", "history", "decisions", "events", "timeline", "gates", "hooks", "blocked",
		"delegations", "notifications"} {
		todo = append(todo, "/api/"+name)
	}
	link := regexp.MustCompile(`href="(/[^"#]*)"`)
	for ; len(todo) > 0 && len(out) < 200; todo = todo[1:] {
		at, _, _ := strings.Cut(html.UnescapeString(todo[0]), "#")
		if seen[at] || strings.HasPrefix(at, "/assets") {
			continue
		}
		seen[at] = true
		req, err := http.NewRequest(http.MethodGet, base+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-AgentXchain-Token", session.String("token"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		out = append(out, sink{"dashboard " + at, []byte(html.UnescapeString(string(page)))})
		for _, m := range link.FindAllSubmatch(page, -1) {
			todo = append(todo, string(m[1]))
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if len(out) < 15 {
		t.Errorf("the dashboard has %d pages", len(out))
	}
	return append(out, sink{"logs of the dashboard", errs.Bytes()})
}

func writeText(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the files that the program keeps: in the project, except logs, and in git's
// directory.
func filesOf(t *testing.T, dir string) (out []sink) {
	t.Helper()
	for _, top := range []string{".agentxchain", ".git/agentxchain", ".git/logs"} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // one of them need not be there
			}
			name, _ := filepath.Rel(dir, path)
			data, err := os.ReadFile(path)
			kind := "files"
			switch {
			case strings.HasSuffix(name, ".log"):
				kind = "logs"
			case strings.Contains(name, "/dispatch/"):
				kind = "bundles"
			}
			if name != filepath.Join(".agentxchain", "prompts", "dev.md") {
				out = append(out, sink{kind + " " + filepath.Base(name), data})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"TALK.md", "HUMAN_TASKS.md"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			out = append(out, sink{"files " + name, data})
		}
	}
	return out
}

// agentThatTells prints secrets on both streams and puts others into its result; the second time it fails.
const agentThatTells = `set -eu
turn=$AGENTXCHAIN_TURN_ID
field() { sed -n "s/^  \"$1\": \"\(.*\)\",*$/\1/p" ".agentxchain/dispatch/turns/$turn/ASSIGNMENT.json" | head -n 1; }
cat "$PLANTS/agent-output"
cat "$PLANTS/agent-output" >&2
env
if [ -e .git/again ]; then exit 1; fi
date >>notes.txt
summary=$(sed ':a;N;$!ba;s/\n/\\n/g' "$PLANTS/result")
cat >".agentxchain/staging/$turn/turn-result.json" <<JSON
{"schema_version": "1.0", "run_id": "$(field run_id)", "turn_id": "$turn", "role": "dev", "runtime_id": "sh",
 "status": "completed", "summary": "wrote a note $summary", "decisions": [], "objections": [], "files_changed": ["notes.txt"], "artifacts_created": [],
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "It was run.", "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "artifact": {"type": "workspace", "ref": null}, "proposed_next_role": "dev", "phase_transition_request": null, "run_completion_request": null,
 "needs_human_reason": null, "cost": {"input_tokens": 10, "output_tokens": 5, "usd": 0.25}}
JSON
`
