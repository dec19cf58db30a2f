// Updating the files of the workspace to its record; files that the new ones do not continue are kept.

package coordinator

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// place makes the coordinator's files those of a recorded change, and reads them again. It returns the directory of
// the displaced files, "" when all were only continued.
func (c *Coordinator) place(ctx context.Context, tx *Tx, op object.OID) (kept string, err error) {
	files, err := record.InitiativeFiles(ctx, c.repository(ctx).Repository(), op)
	if err != nil {
		return "", err
	}
	if kept, err = c.placeFiles(tx, files, true); err == nil {
		c.keepBeginning(ctx, tx.Docs.State)
	}
	return kept, err
}

// placeFiles is place for files; whole says that other contexts and reports are no longer part of the initiative.
func (c *Coordinator) placeFiles(tx *Tx, files map[string][]byte, whole bool) (kept string, err error) {
	root := c.store.root
	if err := tx.held.Check(); err != nil {
		return "", err
	}
	var steps []step
	onward := true
	for _, name := range travelFiles() {
		now, err := readRegular(root, name, maxLedgerBytes)
		if err != nil {
			return "", failed(name, err)
		}
		data, want := files[name]
		if !want {
			data = now // a record without the file says nothing about it
		}
		before := ""
		if now != nil {
			before = wire.SHA256(now)
		}
		switch {
		case now == nil && want && len(data) == 0:
			// Even an empty ledger counts: without it the files would not be the record's.
			steps = append(steps, step{File: name})
		case bytes.Equal(now, data):
		case !strings.HasSuffix(name, ".jsonl"):
			steps = append(steps, step{File: name, Data: string(data), Before: before})
		case bytes.HasPrefix(data, now):
			steps = append(steps, step{File: name, Data: string(data[len(now):]), Append: true, Size: len(now)})
		default:
			onward = false
			steps = append(steps, step{File: name, Data: string(data), Before: before})
		}
	}
	if !onward {
		if kept, err = c.keepFiles(); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if slices.Contains(travelFiles(), name) || name == initiative.ConfigFile {
			continue
		}
		if err := writeNew(root, initiative.File{Path: name, Data: files[name]}); err != nil {
			return kept, unwritten(err)
		}
	}
	faults.Point("coordinator.place.files")
	if err := carryOut(root, steps); err != nil {
		return kept, unwritten(err)
	}
	if whole {
		if err := c.dropFiles(files); err != nil {
			return kept, unwritten(err)
		}
	}
	if here, err := readRegular(root, initiative.ConfigFile, initiative.MaxConfigBytes); err == nil &&
		files[initiative.ConfigFile] != nil && !bytes.Equal(here, files[initiative.ConfigFile]) {
		c.note(initiative.ConfigFile +
			" here is not the one that the initiative went on with elsewhere; git pull brings what was committed")
	}
	d, e := read(root, c.store.dir, false)
	if e != nil {
		return kept, e
	}
	tx.Docs = d
	return kept, nil
}

// travelFiles returns the files that make an initiative, ledgers first: everything else can be derived from them.
func travelFiles() []string {
	return append(initiative.Ledgers(), initiative.BarriersPath, initiative.StatePath)
}

// dropFiles moves aside contexts and reports that a record lacks.
func (c *Coordinator) dropFiles(files map[string][]byte) error {
	root := c.store.root
	names := append(filesBelow(root, initiative.ContextDir), filesBelow(root, initiative.ReportArchive)...)
	for _, name := range append(names, initiative.ReportPath) {
		if _, ok := files[name]; ok {
			continue
		}
		to := path.Join(c.displaced(), strings.TrimPrefix(name, initiative.Dir+"/"))
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := root.MkdirAll(path.Dir(to), 0o777); err != nil {
			return err
		}
		if err := root.Rename(name, to); err != nil {
			return err
		}
	}
	return nil
}

// displaced returns the directory for files that a record replaces.
func (c *Coordinator) displaced() string {
	at := strings.NewReplacer(":", "", ".", "").Replace(wire.FormatTime(c.opt.Now()))
	return path.Join(initiative.Dir, "archive", "displaced-"+at)
}

// keepFiles copies the coordinator's files to a separate directory.
func (c *Coordinator) keepFiles() (string, error) {
	dir := c.displaced()
	for _, name := range travelFiles() {
		data, err := readRegular(c.store.root, name, maxLedgerBytes)
		if err != nil {
			return "", failed(name, err)
		}
		if data == nil {
			continue
		}
		if err := writeNew(c.store.root, initiative.File{Path: path.Join(dir, path.Base(name)),
			Data: data}); err != nil {
			return "", unwritten(err)
		}
	}
	return dir, nil
}
