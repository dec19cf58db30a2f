// Reading back all governed files of a run from one operation.

package chain

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RunFiles holds the governed files as one operation recorded them, by project-relative path.
type RunFiles struct {
	Op      object.OID
	State   []byte            // state.json
	Files   map[string][]byte // ledgers, documents, bundles of active turns, files of operations
	Ledgers map[string]bool   // which of Files are ledgers
}

// Paths returns the paths in order.
func (f *RunFiles) Paths() []string {
	return slices.Sorted(maps.Keys(f.Files))
}

// CodeNoRun means that there is no record of a run here.
const CodeNoRun = "no_run"

func NoRun(run string) *fail.Error {
	if run == "" {
		return fail.Errorf(CodeNoRun, nil, "no run has been recorded here").WithHint(
			"start one with git agentxchain assign, or fetch refs/agentxchain/runs/* from another clone")
	}
	return fail.Errorf(CodeNoRun, nil, "run %s has no record in this repository", run).
		WithHint("git agentxchain runs list --all shows what is here; or fetch the run from another clone")
}

// Files reads all governed files as the operation recorded them.
func (x *RecordedRun) Files() (*RunFiles, error) {
	f := &RunFiles{Op: x.Op, Files: make(map[string][]byte), Ledgers: make(map[string]bool)}
	var ok bool
	var err error
	for _, d := range wire.Documents() {
		data, found, err := x.Reader.File(x.Root, record.DocumentFile(d))
		if err != nil {
			return nil, err
		}
		if found {
			f.Files[string(d)] = data
		}
	}
	if f.State, ok = f.Files[string(wire.DocState)]; !ok {
		return nil, record.Malformed(x.Root, "there is no %s", record.FileState)
	}
	for _, l := range wire.Ledgers() {
		data, err := x.Reader.Ledger(x.Root, l)
		if err != nil {
			return nil, err
		}
		if data != nil {
			f.Files[l.Path()] = data
			f.Ledgers[l.Path()] = true
		}
	}
	groups, err := x.Reader.Slots(x.Root, record.DirFiles, true)
	if err != nil {
		return nil, err
	}
	add := func(name string, oid object.OID) error {
		data, err := x.Reader.Blob(oid)
		f.Files[name] = data
		return err
	}
	for _, g := range groups {
		// A later operation's file replaces an earlier one's.
		err := x.Reader.WalkFiles(g, record.ProjectDir, func(name string, oid object.OID) error {
			if !record.SafeFile(name) {
				return record.Malformed(x.Root, "it holds the file %q, which no operation may write", name)
			}
			return add(name, oid)
		})
		if err != nil {
			return nil, err
		}
	}
	turns, err := x.Reader.List(x.Root, record.DirBundles)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		if !t.IsTree() || !record.SafeName(t.Name) {
			return nil, record.Malformed(x.Root, "%s/%s is not a bundle", record.DirBundles, t.Name)
		}
		err := x.Reader.WalkFiles(t.OID, wire.BundleDir(t.Name), func(name string, oid object.OID) error {
			if !record.SafeBundleName(strings.TrimPrefix(name, wire.BundleDir(t.Name)+"/")) {
				return record.Malformed(x.Root, "%q is not a file of a bundle", name)
			}
			return add(name, oid)
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}
