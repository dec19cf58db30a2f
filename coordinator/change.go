// Applying a change: all of its files become the new ones, or a later reader finishes it (docs/siblings.md).

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

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// step is one file of a change: rows to append to a ledger, or the new contents of a document.
type step struct {
	File   string `json:"file"`
	Data   string `json:"data"`
	Append bool   `json:"append"`
	Size   int    `json:"size"`   // of the ledger before, in bytes
	Before string `json:"before"` // sha256 of the document before, "" when absent
}

type pendingChange struct {
	SchemaVersion string `json:"schema_version"`
	Steps         []step `json:"steps"`
}

// steps returns the files of a change in write order: history first, because everything else can be computed from
// it.
func (d *Documents) steps(c *initiative.Change) []step {
	var out []step
	rows := func(name string, list []*ojson.Object) {
		if len(list) == 0 {
			return
		}
		var b bytes.Buffer
		end := d.ledgers[name]
		if end.torn {
			b.WriteByte('\n') // our row must not be appended to the torn line
		}
		for _, row := range list {
			b.Write(ojson.Compact(row))
			b.WriteByte('\n')
		}
		out = append(out, step{File: name, Data: b.String(), Append: true, Size: int(end.size)})
	}
	rows(initiative.HistoryPath, c.History)
	rows(initiative.DecisionsPath, c.Decisions)
	rows(initiative.BarrierLedgerPath, c.BarrierLedger)
	rows(initiative.HookAuditPath, c.HookAudit)
	rows(initiative.HookNotesPath, c.HookNotes)
	if c.Barriers != nil {
		out = append(out, step{
			File:   initiative.BarriersPath,
			Data:   string(ojson.Pretty(c.Barriers.Object())),
			Before: d.digests[initiative.BarriersPath],
		})
	}
	if c.State != nil {
		out = append(out, step{
			File:   initiative.StatePath,
			Data:   string(ojson.Pretty(c.State.Object())),
			Before: d.digests[initiative.StatePath],
		})
	}
	return out
}

// carryOut writes a change. Unless it only replaces one document, it is first written to a pending file, so that
// finish can complete it after a crash: an appended row may reach the disk in part.
func carryOut(root *os.Root, steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	if err := root.MkdirAll(initiative.Dir, 0o777); err != nil {
		return err
	}
	if len(steps) == 1 && !steps[0].Append {
		return steps[0].write(root)
	}
	data := ojson.Pretty(ojson.Marshal(&pendingChange{SchemaVersion: initiative.Schema, Steps: steps}))
	if err := durable.WriteFileRoot(root, pendingPath, data, 0o666); err != nil {
		return err
	}
	faults.Point("coordinator.change.begun")
	for _, s := range steps {
		if err := s.write(root); err != nil {
			return err
		}
		faults.Point("coordinator.change.step")
	}
	return dropPending(root)
}

func dropPending(root *os.Root) error {
	if err := root.Remove(pendingPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncDirRoot(root, initiative.Dir)
}

func (s *step) write(root *os.Root) error {
	if s.Append {
		return durable.AppendRoot(root, s.File, int64(s.Size), []byte(s.Data), 0o666)
	}
	return durable.WriteFileRoot(root, s.File, []byte(s.Data), 0o666)
}

// Progress of one step of an interrupted change.
const (
	stepOpen  = iota // not written, or a ledger's rows written in part
	stepDone         // written
	stepOther        // another program has written to it since
)

// progress returns how far a step got; written is what a ledger has of the rows of an open one.
func (s *step) progress(root *os.Root) (state int, written []byte, err error) {
	if !s.Append {
		data, err := readRegular(root, s.File, limitOf(s.File))
		now := ""
		if data != nil {
			now = wire.SHA256(data)
		}
		switch {
		case err != nil:
			return 0, nil, err
		case string(data) == s.Data:
			return stepDone, nil, nil
		case now == s.Before:
			return stepOpen, nil, nil
		}
		return stepOther, nil, nil
	}
	tail, size, err := readTail(root, s.File, int64(s.Size), len(s.Data))
	switch {
	case err != nil:
		return 0, nil, err
	case string(tail) == s.Data:
		return stepDone, nil, nil
	case size != int64(s.Size)+int64(len(tail)) || !durable.Torn(tail, nil, []byte(s.Data)):
		return stepOther, nil, nil
	}
	return stepOpen, tail, nil
}

// readTail returns up to limit bytes of a file from offset on, and its size; an
// absent file is empty.
func readTail(root *os.Root, name string, offset int64, limit int) ([]byte, int64, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	case info.Size() <= offset:
		return nil, info.Size(), nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, min(info.Size()-offset, int64(limit)))
	if _, err := f.ReadAt(buf, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return buf, info.Size(), nil
}

// finish completes an interrupted change. Where another program has written in the meantime its content stays: that
// step is skipped and reported, and the barriers are derived again from the actual history. The caller holds the
// lock.
func finish(root *os.Root) (wire.Problems, error) {
	data, err := readRegular(root, pendingPath, maxDocumentBytes+maxLedgerBytes)
	if err != nil || data == nil {
		return nil, err
	}
	o, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: len(data)})
	doc, ok := o.(*ojson.Object)
	if err != nil || !ok {
		// It is written under another name and renamed, so this is not a torn write.
		return abandoned(pendingPath, "its record cannot be read"), dropPending(root)
	}
	var p pendingChange
	ojson.Unmarshal(doc, &p)
	problems, err := complete(root, p.Steps)
	if err != nil {
		return problems, err
	}
	return problems, dropPending(root)
}

// complete carries out the steps that are not done yet.
func complete(root *os.Root, steps []step) (problems wire.Problems, err error) {
	for _, s := range steps {
		if !s.known() {
			problems = append(problems,
				abandoned(pendingPath, "its record names a file that is not the coordinator's")...)
			continue
		}
		state, written, err := s.progress(root)
		if err != nil {
			return problems, err
		}
		switch {
		case state == stepOther:
			problems = append(problems, abandoned(s.File, "another program has written there")...)
		case state == stepDone:
		case len(written) > 0:
			err = durable.OverwriteRoot(root, s.File, int64(s.Size), written, []byte(s.Data))
		default:
			err = s.write(root)
		}
		if err != nil {
			return problems, err
		}
	}
	return problems, nil
}

func abandoned(name, why string) wire.Problems {
	return wire.Problems{{
		Code:    "change_abandoned",
		Field:   name,
		Message: fmt.Sprintf("a change of %s that was interrupted could not be completed: %s", path.Base(name), why),
	}}
}

// limitOf returns how much of a coordinator's file is read.
func limitOf(name string) int64 {
	if strings.HasSuffix(name, ".jsonl") {
		return maxLedgerBytes
	}
	return maxDocumentBytes
}

// known reports whether a change may write the file. The record of a change is in a directory that others can write
// to.
func (s *step) known() bool {
	switch s.File {
	case initiative.HistoryPath, initiative.DecisionsPath, initiative.BarrierLedgerPath, initiative.HookAuditPath,
		initiative.HookNotesPath:
		return !s.Append || s.Size >= 0
	case initiative.BarriersPath, initiative.StatePath:
		return !s.Append
	}
	return false
}
