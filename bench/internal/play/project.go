// The measured project.

package play

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kind says what the turns of a project do.
type Kind string

const (
	Review  Kind = "review"  // a decision and an objection, no file
	Changes Kind = "changes" // the same and a changed file, committed after acceptance
)

// Project is a governed project with one phase and one role that may do everything.
type Project struct {
	Dir  string
	Bin  string // git-agentxchain
	Kind Kind

	step int              // of the newest turn, counting from 1
	turn string           // the newest, "" before the first
	last map[string]int64 // the ends of the ledgers before it
}

const config = `{
  "schema_version": "1.0",
  "template": "generic",
  "project": {"id": "bench", "name": "Bench", "default_branch": "main"},
  "roles": {"dev": {"title": "Developer", "mandate": "Build it.", "write_authority": "authoritative", "runtime": "manual-dev"}},
  "runtimes": {"manual-dev": {"type": "manual"}},
  "routing": {"building": {"entry_role": "dev", "allowed_next_roles": ["dev", "human"]}},
  "rules": {"challenge_required": false, "max_turn_retries": 2, "max_deadlock_cycles": 2}
}
`

// The run's own files are not the project's.
const ignore = ".agentxchain/\nTALK.md\n"

// Environment makes git ignore the machine's configuration.
func Environment() []string {
	return []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull}
}

// New makes a project in dir, a directory that does not exist or is empty.
func New(dir, bin string, kind Kind) (*Project, error) {
	p := &Project{Dir: dir, Bin: bin, Kind: kind, last: make(map[string]int64)}
	for name, content := range map[string]string{
		wire.ConfigPath: config,
		".gitignore":    ignore,
		"README.md":     "# Bench\n",
	} {
		if err := p.write(name, content); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Bench"}, {"config", "user.email", "bench@example.org"},
		{"add", "-A"}, {"commit", "-q", "-m", "project"},
	} {
		if _, err := p.run("git", args...); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Assign begins a turn and stages its result. In a Changes project it also does
// the turn's work.
func (p *Project) Assign() error {
	p.measureLedgers()
	args := p.AssignArgs()
	out, err := p.run(args[0], args[1:]...)
	if err != nil {
		return err
	}
	return p.Stage(out)
}

// AssignArgs returns the command that begins a turn.
func (p *Project) AssignArgs() []string { return []string{p.Bin, "assign", "--json"} }

// Stage stages the result of the turn that the command of AssignArgs assigned.
func (p *Project) Stage(assigned []byte) error {
	answer, err := ojson.DecodeObject(assigned)
	if err != nil {
		return err
	}
	p.turn = answer.String("turn_id")
	// Without gaps, as decisions are numbered: the store keeps their ids as ranges.
	p.step++
	n := p.step
	doc := answer.Object("result_template").Clone()
	obj := ojson.NewObject
	for k, v := range obj(
		"summary", fmt.Sprintf("Did step %d.", n),
		"decisions", []any{obj("id", fmt.Sprintf("DEC-%03d", n), "category", "implementation",
			"statement", fmt.Sprintf("Step %d is done this way.", n), "rationale", "It is the simplest.")},
		"objections", []any{obj("id", fmt.Sprintf("OBJ-%03d", n), "severity", "low",
			"statement", fmt.Sprintf("Nothing checks step %d twice.", n), "status", "raised")},
		"files_changed", []any{},
		"verification", obj("status", "skipped", "commands", []any{}, "evidence_summary", "Read only.",
			"machine_evidence", []any{}),
		"artifact", obj("type", "review", "ref", nil),
		"proposed_next_role", "dev",
	).All() {
		doc.Set(k, v)
	}
	if p.Kind == Changes {
		name := fmt.Sprintf("src/part%d.txt", n%20)
		if err := p.write(name, fmt.Sprintf("step %d\n", n)); err != nil {
			return err
		}
		doc.Set("files_changed", []any{name})
		doc.Set("artifact", obj("type", "workspace", "ref", "git:dirty"))
	}
	return p.write(wire.StagingPath(p.turn), string(ojson.Pretty(doc)))
}

// AcceptArgs returns the command that ends the turn under way.
func (p *Project) AcceptArgs() []string {
	if p.Kind == Changes {
		return []string{p.Bin, "accept", "--checkpoint"}
	}
	return []string{p.Bin, "accept"}
}

// Turns plays n turns from assignment to acceptance.
func (p *Project) Turns(n int) error {
	for range n {
		if err := p.Assign(); err != nil {
			return err
		}
		if err := p.Accept(); err != nil {
			return err
		}
	}
	return nil
}

// Accept ends the turn under way.
func (p *Project) Accept() error {
	args := p.AcceptArgs()
	_, err := p.run(args[0], args[1:]...)
	return err
}

func (p *Project) path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

func (p *Project) write(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.path(name), []byte(content), 0o666)
}

// run runs a program in the project and returns what it printed.
func (p *Project) run(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), Environment()...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, complaint.String())
	}
	return out.Bytes(), nil
}
