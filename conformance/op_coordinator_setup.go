// A coordinator's workspace described by a fixture, created on disk for one operation
// (docs/conformance.md#becoming-a-target).

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// initiativeDir is the workspace's name in the scratch directory. Repositories may be beside it, but never outside
// the scratch directory.
const initiativeDir = "workspace"

// initiative has the files of a workspace and its repositories, with paths relative to the scratch directory.
type initiative struct {
	dirs  []string
	files map[string][]byte
}

// newInitiative reads the coordinator's part of a setup. It writes nothing.
func newInitiative(setup *ojson.Object) (*initiative, error) {
	in := &initiative{dirs: []string{initiativeDir}, files: make(map[string][]byte)}
	if v := setup.Value("coordinator_config"); v != nil {
		in.put(multirepo.ConfigFile, ojson.Pretty(v))
	}
	for _, doc := range []struct {
		key, path string
	}{{"coordinator_state", multirepo.StatePath}, {"barriers", multirepo.BarriersPath}} {
		v := setup.Value(doc.key)
		o, ok := v.(*ojson.Object)
		if !ok && v != nil {
			return nil, fmt.Errorf("setup.%s must be an object, not %s", doc.key, ojson.TypeName(v))
		}
		if v != nil {
			in.put(doc.path, ojson.Pretty(o))
		}
	}
	for _, l := range []struct {
		key, path string
	}{{"coordinator_history", multirepo.HistoryPath}, {"barrier_ledger", multirepo.BarrierLedgerPath}} {
		list, err := rows(setup.Value(l.key))
		if err != nil {
			return nil, fmt.Errorf("setup.%s: %w", l.key, err)
		}
		if len(list) > 0 {
			in.put(l.path, jsonl(list))
		}
	}
	v := setup.Value("repos")
	repos, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return nil, fmt.Errorf("setup.repos must be an object, not %s", ojson.TypeName(v))
	}
	for id, v := range repos.All() {
		o, ok := v.(*ojson.Object)
		if !ok {
			return nil, fmt.Errorf("setup.repos.%s must be an object, not %s", text.Clip(id, 80), ojson.TypeName(v))
		}
		if err := in.repo(id, o); err != nil {
			return nil, fmt.Errorf("setup.repos.%s: %w", text.Clip(id, 80), err)
		}
	}
	return in, nil
}

func (in *initiative) put(name string, data []byte) { in.files[path.Join(initiativeDir, name)] = data }

func jsonl(list []run.Line) []byte {
	var b bytes.Buffer
	for _, l := range list {
		b.Write(l.Raw)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// repo adds a repository {path, config, state, history, files}.
func (in *initiative) repo(id string, o *ojson.Object) error {
	for k := range o.All() {
		if !slices.Contains([]string{"path", "config", "state", "history", "files"}, k) {
			return fmt.Errorf("%s is not a member this adapter knows", show(k))
		}
	}
	dir, err := repoDir(id, o.Value("path"))
	if err != nil {
		return err
	}
	in.dirs = append(in.dirs, dir)
	made := func(name string, data []byte) { in.files[path.Join(dir, name)] = data }

	raw, err := inflateConfig(o.Value("config"))
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if v := o.Value("config"); v != nil {
		made(wire.ConfigPath, ojson.Pretty(v))
	}
	if v := o.Value("state"); v != nil {
		cfg, _ := config.DecodeObject(raw)
		state, err := inflateState(v, cfg)
		if err != nil {
			return fmt.Errorf("state: %w", err)
		}
		made(string(wire.DocState), ojson.Pretty(ojson.Marshal(state)))
	}
	if v := o.Value("history"); v != nil {
		list, err := rows(v)
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		made(wire.LedgerHistory.Path(), jsonl(list))
	}
	v := o.Value("files")
	files, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return fmt.Errorf("files must be an object, not %s", ojson.TypeName(v))
	}
	for name, v := range files.All() {
		data, ok := v.(string)
		clean, problem := wire.CleanPath(name)
		switch {
		case !ok:
			return fmt.Errorf("files: %s must be text, not %s", show(name), ojson.TypeName(v))
		case problem != "":
			return fmt.Errorf("files: %s is not a path inside the repository (%s)", show(name), problem)
		case in.files[path.Join(dir, clean)] != nil:
			return fmt.Errorf("files: %s is made from another member of the setup", show(name))
		}
		made(clean, []byte(data))
	}
	return nil
}

// repoDir returns the location of a repository: below the workspace or beside it.
func repoDir(id string, v ojson.Value) (string, error) {
	p, ok := v.(string)
	switch {
	case v == nil:
		p = "repos/" + id
	case !ok:
		return "", fmt.Errorf("path must be a string, not %s", ojson.TypeName(v))
	}
	p = strings.ReplaceAll(p, `\`, "/")
	dir := path.Join(initiativeDir, p)
	if path.IsAbs(p) || dir == "." || dir == initiativeDir || !filepath.IsLocal(filepath.FromSlash(dir)) ||
		strings.HasPrefix(dir+"/", path.Join(initiativeDir, ".agentxchain")+"/") {
		return "", fmt.Errorf("the path %s does not name a directory of its own below or beside the workspace",
			show(p))
	}
	return dir, nil
}

// onDisk creates the files in a scratch directory and opens the workspace. The caller defers remove, which closes
// the workspace and deletes everything.
func (in *initiative) onDisk() (store *coordinator.Store, remove func(), err error) {
	scratch, err := os.MkdirTemp("", "agentxchain-fixture-")
	if err != nil {
		return nil, nil, err
	}
	if err = in.write(scratch); err == nil {
		store, err = coordinator.Open(filepath.Join(scratch, initiativeDir))
	}
	if err != nil {
		removeTemp(scratch)
		return nil, nil, fmt.Errorf("the fixture's workspace cannot be made: %w", err)
	}
	return store, func() {
		_ = store.Close()
		removeTemp(scratch)
	}, nil
}

func (in *initiative) write(scratch string) error {
	root, err := os.OpenRoot(scratch)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, dir := range in.dirs {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return writeTree(root, in.files)
}
