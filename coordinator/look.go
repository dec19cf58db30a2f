// An initiative laid out for viewing: repositories that consist only of files.

package coordinator

import (
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// StandingOfFiles is Status for a workspace whose repositories are directories of files without a record, as in a
// replayed artifact: only their working files exist, and they are accepted as they are. Errors: those of
// Store.Read.
func StandingOfFiles(dir string) (*Standing, error) {
	st, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	d, err := st.Read()
	if err != nil {
		return nil, err
	}
	s := &Standing{
		Seen:     &Seen{Documents: d, Children: make(initiative.Children)},
		Warnings: (&Coordinator{store: st}).warnings(d.State.SuperRunID),
	}
	for _, id := range d.Config.Repos.Keys() {
		if path, ok := d.Roots.Path(id); ok {
			s.Children[id] = childOfFiles(id, path, &s.Refused)
		}
	}
	s.Next = initiative.NextActions(&s.Workspace, s.Children)
	s.count()
	return s, nil
}

func childOfFiles(id, path string, refused *wire.Problems) *initiative.Child {
	refuse := func(message string) *initiative.Child {
		*refused = append(*refused, wire.Problem{
			Code:    "repo_not_governed",
			Field:   "repos." + id,
			Value:   id,
			Message: "repository " + id + ": " + message,
		})
		return initiative.NewChild(id, path, nil, nil, nil, nil)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return refuse("it cannot be read: " + reason(err))
	}
	defer func() { _ = root.Close() }()
	data, err := readRegular(root, wire.ConfigPath, initiative.MaxConfigBytes)
	if err != nil || data == nil {
		return refuse("it has no " + wire.ConfigPath + " that can be read")
	}
	cfg, problems, err := config.Decode(data)
	if err != nil || len(problems) > 0 {
		return refuse("its " + wire.ConfigPath + " is not valid")
	}
	var state *run.State
	if data, err := readRegular(root, string(wire.DocState), maxDocumentBytes); err == nil && data != nil {
		if s, perr := run.DecodeState(data); perr == nil {
			state, _ = run.RepairState(s, cfg)
		}
	}
	return initiative.NewChild(id, path, cfg, state, rowsIn(root, wire.LedgerHistory), rowsIn(root, wire.LedgerEvents))
}

// rowsIn returns the rows of a ledger, skipping what is not a row.
func rowsIn(root *os.Root, l wire.Ledger) []*ojson.Object {
	data, err := readRegular(root, l.Path(), maxLedgerBytes)
	if err != nil {
		return nil
	}
	return readableRows(data)
}

func readableRows(ledger []byte) []*ojson.Object {
	rows, _ := decodeRows("", ledger)
	return rows
}
