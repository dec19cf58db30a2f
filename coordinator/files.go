// The coordinator's files below .agentxchain/multirepo/: locations, limits, reading
// (docs/coordinator.md#files-and-refs).

package coordinator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Files of a change, which no other tool reads.
const (
	pendingPath = initiative.Dir + "/pending-change.json" // a change in progress
	lockPath    = initiative.Dir + "/coordinator.lock"
)

// Limits of the files. An attacker may have prepared a workspace; a larger file is refused before it is read.
const (
	maxDocumentBytes = 16 << 20
	maxLedgerBytes   = 256 << 20
	maxFindings      = 100
)

// Documents is a workspace as read from its files.
type Documents struct {
	initiative.Workspace
	Roots *Roots

	// RepoProblems say why required repositories cannot be used, OptionalProblems the same for the others.
	RepoProblems, OptionalProblems wire.Problems

	// Findings are rows that could not be read and were skipped.
	Findings wire.Problems

	ledgers map[string]ledgerEnd
	digests map[string]string // document -> sha256, "" when absent
}

// ledgerEnd is where the next row of a ledger goes.
type ledgerEnd struct {
	size int64
	torn bool // the last line has no newline
}

// reader reads the files of one workspace.
type reader struct {
	root *os.Root
	docs *Documents
}

// read reads everything. The errors are config_missing, invalid_coordinator_config, workstream_cycle, invalid_json,
// no_coordinator_run, invalid_state and unreadable_file; with fresh, a workspace without an initiative is not an
// error and has no State.
func read(root *os.Root, dir string, fresh bool) (*Documents, *wire.Error) {
	r := newReader(root)
	cfg, e := r.config(dir)
	if e != nil {
		return nil, e
	}
	return r.documents(cfg, dir, fresh)
}

// readBare reads the record without the configuration: no repositories are known then.
func readBare(root *os.Root, dir string) (*Documents, *wire.Error) {
	return newReader(root).documents(&initiative.Config{Raw: ojson.NewObject()}, dir, false)
}

func newReader(root *os.Root) *reader {
	return &reader{root: root, docs: &Documents{ledgers: make(map[string]ledgerEnd), digests: make(map[string]string)}}
}

func (r *reader) config(dir string) (*initiative.Config, *wire.Error) {
	data, e := r.file(initiative.ConfigFile, initiative.MaxConfigBytes)
	switch {
	case e != nil:
		return nil, e
	case data == nil:
		return nil, noConfig(dir)
	}
	cfg, problems, e := initiative.Decode(data)
	if e != nil {
		return nil, e
	}
	return cfg, initiative.ConfigError(problems)
}

func (r *reader) documents(cfg *initiative.Config, dir string, fresh bool) (*Documents, *wire.Error) {
	d := r.docs
	d.Config = cfg
	d.Roots, d.RepoProblems, d.OptionalProblems = resolve(cfg, dir)
	d.Places = d.Roots

	var problems wire.Problems
	state, e := r.document(initiative.StatePath)
	switch {
	case e != nil:
		return nil, e
	case state != nil:
		if d.State, e = initiative.DecodeState(state); e != nil {
			if e.Hint == "" {
				e.Hint = restoresFile
			}
			return nil, e
		}
	case !fresh:
		return nil, &wire.Error{
			Code:    initiative.CodeNoCoordinator,
			Field:   initiative.StatePath,
			Message: "No initiative has been started in this workspace.",
			Hint:    "git agentxchain multi init",
		}
	}
	barriers, e := r.document(initiative.BarriersPath)
	if e != nil {
		return nil, e
	}
	d.Barriers, problems = initiative.DecodeBarriers(barriers)
	d.Findings = append(d.Findings, problems...)

	rows, e := r.ledger(initiative.HistoryPath)
	if e != nil {
		return nil, e
	}
	superRun := ""
	if d.State != nil {
		superRun = d.State.SuperRunID
	}
	d.History = initiative.NewHistory(rows, superRun)
	if rows, e = r.ledger(initiative.DecisionsPath); e != nil {
		return nil, e
	}
	d.NextDecision = initiative.NextDecision(rows)
	for _, name := range []string{initiative.BarrierLedgerPath, initiative.HookAuditPath, initiative.HookNotesPath} {
		if e := r.end(name); e != nil {
			return nil, e
		}
	}
	return d, nil
}

// file returns the contents of a regular file, nil if there is none.
func (r *reader) file(name string, limit int64) ([]byte, *wire.Error) {
	data, err := readRegular(r.root, name, limit)
	if err != nil {
		return nil, &wire.Error{
			Code:    "unreadable_file",
			Field:   name,
			Message: fmt.Sprintf("%s cannot be read: %s.", name, reason(err)),
		}
	}
	return data, nil
}

// errLink refuses a symbolic link: it could lead out of the workspace, and its target is not what git records.
var errLink = errors.New("it is a symbolic link")

// readRegular reads a file of at most limit bytes, nil if it does not exist. Anything but a regular file is an
// error: opening a pipe would block forever.
func readRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, errLink
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("it has %d bytes and at most %d are read", info.Size(), limit)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// restoresFile is the way out of a file of the initiative that cannot be read.
const restoresFile = "move the file away, then: " + Program + " multi restore brings the newest record of it"

// document reads a JSON object, nil when the file is absent.
func (r *reader) document(name string) (*ojson.Object, *wire.Error) {
	data, e := r.file(name, maxDocumentBytes)
	if e != nil {
		e.Hint = restoresFile
	}
	if e != nil || data == nil {
		return nil, e
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidState,
			Field:   name,
			Message: fmt.Sprintf("%s is not valid JSON: %v", name, err),
			Hint:    restoresFile,
		}
	}
	r.docs.digests[name] = wire.SHA256(data)
	return o, nil
}

// ledger reads the rows of a JSONL file. An unreadable line costs only that line, not the file (docs/siblings.md).
func (r *reader) ledger(name string) ([]*ojson.Object, *wire.Error) {
	data, e := r.file(name, maxLedgerBytes)
	if e != nil {
		e.Hint = restoresFile
		return nil, e
	}
	rows, bad := decodeRows(name, data)
	r.docs.ledgers[name] = ledgerEnd{size: int64(len(data)), torn: len(data) > 0 && data[len(data)-1] != '\n'}
	r.docs.Findings = append(r.docs.Findings, bad...)
	if len(r.docs.Findings) > maxFindings {
		r.docs.Findings = r.docs.Findings[:maxFindings]
	}
	return rows, nil
}

// end notes the end of a ledger whose rows no rule reads.
func (r *reader) end(name string) *wire.Error {
	last, size, err := readTail(r.root, name, 0, 0)
	if err == nil && size > 0 {
		last, _, err = readTail(r.root, name, size-1, 1)
	}
	if err != nil {
		e := failed(name, err)
		e.Hint = restoresFile
		return e
	}
	r.docs.ledgers[name] = ledgerEnd{size: size, torn: len(last) == 1 && last[0] != '\n'}
	return nil
}

// decodeRows reads the lines of a ledger; name is for findings.
func decodeRows(name string, data []byte) (rows []*ojson.Object, bad wire.Problems) {
	n := 0
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		row, err := run.DecodeLedgerLine(line)
		switch {
		case err == nil:
			rows = append(rows, row)
		case len(bad) < maxFindings:
			bad = append(bad, wire.Problem{Code: wire.CodeInvalidState, Field: fmt.Sprintf("%s:%d", name, n),
				Message: fmt.Sprintf("line %d of %s is passed over: %s", n, path.Base(name), firstLine(err.Error()))})
		}
	}
	return rows, bad
}

func firstLine(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }
