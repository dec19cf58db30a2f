// Whether the files here may be recorded (docs/coordinator.md#what-is-believed).

package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// recordable refuses files that no other machine would believe, or that pass a gate without its people, or choose other
// people: another program or a person has written them, and they are neither recorded nor continued. What is recorded
// once cannot be taken out of the record. tip is the newest recorded change, at the change with these files; "" for none.
func (c *Coordinator) recordable(ctx context.Context, d *Documents, in *record.Initiative, tip, at object.OID) error {
	st := d.State
	anew := tip != "" && at == ""
	if tip != "" && at == tip { // only the configuration can differ
		was, err := record.InitiativeFile(ctx, c.repository(ctx).Repository(), tip, initiative.ConfigFile)
		if err != nil {
			return err
		}
		anew = !bytes.Equal(was, in.Files[initiative.ConfigFile])
	}
	var recorded map[string][]byte
	if anew {
		var err error
		if recorded, err = record.InitiativeFiles(ctx, c.repository(ctx).Repository(), tip); err != nil {
			return err
		}
		was, err := stateOf(recorded)
		if err == nil && was.AuthorityBase != st.AuthorityBase {
			return &wire.Error{
				Code:    CodeUnapproved,
				Field:   initiative.StatePath,
				Message: initiative.StatePath + " names another commit for who may approve than the record of the initiative.",
				Hint:    Program + " multi restore brings back what is recorded",
			}
		}
		if now := d.Config.ProjectID; err == nil && now != was.ProjectID {
			return &wire.Error{
				Code:  record.CodeForeignRun,
				Field: initiative.ConfigFile,
				Message: fmt.Sprintf("project.id of %s is %s, and the initiative belongs to project %s.", initiative.ConfigFile,
					ojson.Shown(now), ojson.Shown(was.ProjectID)),
				Hint: "change it back; an initiative keeps the project that it began with",
			}
		}
	}
	a, err := c.judging(ctx, st, tip, nil, false)
	if err != nil || !anew && !a.asks() {
		return err
	}
	why := initiative.Unfounded(in.Files, st.SuperRunID)
	for _, name := range initiative.Ledgers() {
		if why == "" && !bytes.HasPrefix(in.Files[name], recorded[name]) {
			why = "rows of " + path.Base(name) + " that are recorded are gone or were changed" // a denial, or a yes
		}
	}
	if why != "" {
		e := &wire.Error{
			Code:    record.CodeUnproven,
			Field:   initiative.StatePath,
			Message: "The files of the initiative are not valid: " + sentence(why),
			Hint: Program + " multi restore brings back what is recorded; if " + initiative.ConfigFile +
				" was changed, change its phases back",
		}
		if a.asks() {
			e.Code = CodeUnapproved
		}
		return e
	}
	if !a.asks() {
		return nil
	}
	return a.unapproved(ctx, d.History, 0)
}

// unrecordable returns why the next command that records a change would refuse the files here, nil if it would not.
func (c *Coordinator) unrecordable(ctx context.Context, d *Documents) error {
	home := c.repository(ctx)
	if home == nil {
		return nil
	}
	in := record.Initiative{Run: d.State.SuperRunID}
	if err := c.documents(&in); err != nil {
		return err
	}
	tip, at, err := record.InitiativeAt(ctx, home.Repository(), in)
	if err != nil || tip == "" || at != "" && at != tip {
		return err
	}
	if at == "" {
		if given, err := record.InitiativeGivenUp(ctx, home.Repository(), in); err != nil || given != "" {
			return err // the next command updates these files
		}
	}
	return c.recordable(ctx, d, &in, tip, at)
}
