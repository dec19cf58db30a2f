// The scratch project of a proof.

package proof

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Map is a JSON object whose order does not matter.
type Map = map[string]any

// Ordered is a JSON object whose order matters: a run begins in the first phase of a routing.
type Ordered []Member

// Member is one member of an Ordered object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in their order.
func (o Ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// Project is a governed scratch project in a repository of its own.
type Project struct {
	Dir    string
	Runner *runner.Runner
}

// Gates returns the gates of the whole lifecycle (docs/runner.md#proofs); the proof of one turn has
// none.
func Gates() Map {
	return Map{
		"planning_signoff": Map{
			"requires_files":          []string{".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md"},
			"requires_human_approval": true,
		},
		"implementation_complete": Map{
			"requires_files":             []string{".planning/IMPLEMENTATION_NOTES.md"},
			"requires_verification_pass": true,
		},
		"qa_ship_verdict": Map{
			"requires_files": []string{".planning/acceptance-matrix.md", ".planning/ship-verdict.md",
				".planning/RELEASE_NOTES.md"},
			"requires_human_approval": true,
		},
	}
}

// Config returns the governed configuration of the proofs: pm, dev and qa, one phase each. Without
// gates no phase has an exit gate.
func Config(gates Map) Map {
	phase := func(entry string, next []string, gate string) Map {
		r := Map{"entry_role": entry, "allowed_next_roles": next}
		if len(gates) > 0 {
			r["exit_gate"] = gate
		}
		return r
	}
	return Map{
		"schema_version": "1.0",
		"project":        Map{"id": "runner-proof", "name": "Runner proof"},
		"roles": Map{
			"pm": Map{
				"title":           "Product Manager",
				"mandate":         "Say what is worth building.",
				"write_authority": "review_only",
				"runtime":         "people",
			},
			"dev": Map{
				"title":           "Developer",
				"mandate":         "Build what was approved.",
				"write_authority": "authoritative",
				"runtime":         "worker",
			},
			"qa": Map{
				"title":           "QA",
				"mandate":         "Try to prove the work wrong.",
				"write_authority": "review_only",
				"runtime":         "people",
			},
		},
		"runtimes": Map{
			"people": Map{"type": "manual"},
			"worker": Map{
				"type":             "local_cli",
				"command":          []string{"agent-of-the-proof"},
				"prompt_transport": "dispatch_bundle_only",
			},
		},
		"routing": Ordered{
			{"planning", phase("pm", []string{"pm", "dev", "human"}, "planning_signoff")},
			{"implementation", phase("dev", []string{"dev", "qa", "human"}, "implementation_complete")},
			{"qa", phase("qa", []string{"dev", "qa", "human"}, "qa_ship_verdict")},
		},
		"gates": gates,
		// Agents prepare the sign-off documents, and a person's approval signs them.
		"authority": Map{"signoff_documents": "person"},
		// The gates name all their documents themselves.
		"workflow_kit": Map{},
		"budget":       Map{"per_turn_max_usd": 2.0, "per_run_max_usd": 50.0},
		"rules":        Map{"challenge_required": true, "max_turn_retries": 2},
	}
}

// New makes a project with the configuration, commits it and opens it.
func New(ctx context.Context, config Map) (*Project, error) {
	dir, err := os.MkdirTemp("", "agentxchain-proof-")
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir}
	if err := p.scaffold(ctx, config); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if p.Runner, err = runner.Open(ctx, dir, runner.Options{}); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Project) scaffold(ctx context.Context, config Map) error {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Runner Proof"},
		{"config", "user.email", "proof@example.org"}, {"config", "maintenance.auto", "false"}} {
		if err := p.git(ctx, args...); err != nil {
			return err
		}
	}
	if _, err := runner.InitProject(ctx, p.Dir, runner.ProjectOptions{ID: "runner-proof"}); err != nil {
		return err
	}
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	if err := p.Write("agentxchain.json", string(data)+"\n"); err != nil {
		return err
	}
	if err := p.git(ctx, "add", "-A"); err != nil {
		return err
	}
	return p.git(ctx, "commit", "-q", "-m", "scaffold")
}

// git runs git as on a fresh machine: no user's settings affect the proof.
func (p *Project) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// Close removes the project.
func (p *Project) Close() error {
	var err error
	if p.Runner != nil {
		err = p.Runner.Close()
	}
	return errors.Join(err, os.RemoveAll(p.Dir))
}

// Path returns the absolute path of a project file.
func (p *Project) Path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

// Write makes a file of the project.
func (p *Project) Write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(p.Path(name)), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.Path(name), []byte(text), 0o666)
}

// Exists reports whether a path of the project exists.
func (p *Project) Exists(name string) bool {
	_, err := os.Lstat(p.Path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// State returns .agentxchain/state.json as another program reads it, with its SHA-256.
func (p *Project) State() (doc Map, digest string, err error) {
	data, err := os.ReadFile(p.Path(".agentxchain/state.json"))
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(data)
	return doc, hex.EncodeToString(sum[:]), json.Unmarshal(data, &doc)
}

// Rows reads a ledger below .agentxchain, one JSON object a line.
func (p *Project) Rows(name string) ([]Map, error) {
	f, err := os.Open(p.Path(".agentxchain/" + name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var rows []Map
	s := bufio.NewScanner(f)
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		var row Map
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			return rows, fmt.Errorf("%s line %d: %w", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	return rows, s.Err()
}
