// The record of an initiative in the coordinator's own repository (docs/coordinator.md#files-and-refs).

package coordinator

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// record writes the coordinator's files to the ref of the super run. The files are the authority; what cannot be
// recorded now is recorded with the next change.
func (c *Coordinator) record(ctx context.Context, d *Documents, op, subject string) {
	home := c.repository(ctx)
	if home == nil || d.State == nil {
		return
	}
	in, err := c.initiative(ctx, d, op, subject)
	var up git.RefUpdate
	if err == nil {
		up, err = record.RecordInitiative(context.WithoutCancel(ctx), home.Repository(), in)
	}
	if err != nil {
		c.note("the initiative could not be recorded in git: " + err.Error())
		return
	}
	c.moved = c.moved || up.New != up.Old
}

// keepBeginning keeps the commit that says who may approve: its branch may be rewritten or deleted.
func (c *Coordinator) keepBeginning(ctx context.Context, st *initiative.State) {
	home := c.repository(ctx)
	if home == nil || st == nil || st.AuthorityBase == "" {
		return
	}
	if err := record.KeepBeginning(ctx, home.Repository(), st.SuperRunID, object.OID(st.AuthorityBase)); err != nil {
		c.note("the commit at which the initiative began could not be kept: " + err.Error())
	}
}

// initiative collects what is recorded: the documents and ledgers, contexts and reports, but nothing that belongs
// only to this machine.
func (c *Coordinator) initiative(ctx context.Context, d *Documents, op, subject string) (record.Initiative, error) {
	in := record.Initiative{
		Run:     d.State.SuperRunID,
		Op:      op,
		Subject: subject,
		Env:     c.env(ctx),
	}
	if err := c.documents(&in); err != nil {
		return in, err
	}
	for _, dir := range []string{initiative.ContextDir, initiative.ReportArchive} {
		for _, name := range filesBelow(c.store.root, dir) {
			if err := c.keep(&in, name); err != nil {
				return in, err
			}
		}
	}
	return in, nil
}

// documents collects the documents and ledgers alone.
func (c *Coordinator) documents(in *record.Initiative) error {
	in.Files = make(map[string][]byte)
	for _, name := range append(initiative.Ledgers(), initiative.StatePath, initiative.BarriersPath,
		initiative.ReportPath, initiative.ConfigFile) {
		if err := c.keep(in, name); err != nil {
			return err
		}
	}
	in.State = in.Files[initiative.StatePath]
	return nil
}

func (c *Coordinator) keep(in *record.Initiative, name string) error {
	data, err := readRegular(c.store.root, name, limitOf(name))
	if data != nil {
		in.Files[name] = data
	}
	return err
}

// maxRecordedFiles bounds how many contexts and reports one record holds.
const maxRecordedFiles = 10000

// filesBelow lists the regular files of a directory, none if it does not exist.
func filesBelow(root *os.Root, dir string) []string {
	var out []string
	_ = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(out) >= maxRecordedFiles:
			return fs.SkipAll
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), "."):
			out = append(out, name)
		}
		return nil
	})
	return out
}
