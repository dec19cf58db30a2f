// The configuration that governs a run: the recorded rules, not those of the file in the work tree.

package gitstore

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// govern determines the configuration by which the run is judged. During a run the rules are those its last
// operation recorded; changes in the working file wait until a person adopts them.
func (s *Store) govern(in *inspection) error {
	in.governs = in.config
	if in.tip == nil {
		return nil
	}
	e, ok, err := in.tip.Reader.Lookup(in.tip.Root, record.FileConfig)
	if err != nil || !ok || e.IsTree() || e.OID == object.Hash(s.repo.ObjectFormat, object.KindBlob, in.config) {
		return err
	}
	data, _, err := in.tip.Reader.File(in.tip.Root, record.FileState)
	if err != nil {
		return err
	}
	recorded, err := in.tip.Reader.Blob(e.OID)
	if err != nil {
		return err
	}
	if st, perr := run.DecodeState(data); perr == nil && !run.RulesInForce(st.Status) {
		in.judged = recorded
		return nil
	}
	in.governs = config.Governing(recorded, in.config)
	return nil
}

// rules returns the governing configuration, or the working one when no other is known.
func (in *inspection) rules() []byte {
	if in.governs != nil {
		return in.governs
	}
	return in.config
}

// setConfig decodes the governing configuration, and the working one if it is different.
func (v *View) setConfig(in *inspection) error {
	var err error
	if v.Config, v.ConfigProblems, err = config.Decode(in.config); err != nil {
		return err
	}
	v.Working = v.Config
	if in.judged != nil && len(v.ConfigProblems) == 0 {
		if was := config.DecodeGoverning(in.judged); was != nil {
			v.NextRules = config.RuleChanges(was, v.Working)
		}
	}
	if in.governs == nil || string(in.governs) == string(in.config) {
		return nil
	}
	cfg, _, err := config.Decode(in.governs)
	if err != nil {
		return record.Malformed(in.tip.Root, "%s: %v", record.FileConfig, err)
	}
	v.Config = cfg
	working := v.Working
	if len(v.ConfigProblems) > 0 {
		working = nil
	}
	v.RuleChanges = config.RuleChanges(cfg, working)
	return nil
}

// UseWorkingConfig makes the working configuration the governing one from now on: the next Commit records it. It is
// for the beginning of a run and for a person's decision to adopt it.
func (tx *Tx) UseWorkingConfig() (*View, error) {
	v := *tx.View()
	tx.in.governs = tx.in.config
	v.RuleChanges = nil
	if err := v.setConfig(tx.in); err != nil {
		return nil, err
	}
	if v.RawState != nil {
		v.State, v.StateNotes = run.RepairState(v.RawState, v.Config)
	}
	tx.view = &v
	return tx.view, nil
}
