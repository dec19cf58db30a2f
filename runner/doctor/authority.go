// Who may approve here, and whether the documents carry what a person signed.

package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// authority checks that people keep control of gates.
func (d *doctor) authority(cfg *config.Config) {
	if cfg == nil {
		return
	}
	if cfg.Authority == nil {
		d.add("config", LevelWarning, "add authority to "+wire.ConfigPath+" (docs/spec/configuration.md)",
			"%s does not say who approves gates: a turn can write a sign-off itself, and the approval of any person counts",
			wire.ConfigPath)
		return
	}
	if open := opensItself(cfg); len(open) > 0 {
		d.add("config", LevelWarning, "set requires_human_approval, or name approvers in authority.gates",
			"agents alone can complete a run: no gate waits for a person (%s)", strings.Join(open, ", "))
	}
	for id := range cfg.Authority.Gates.All() {
		if r := cfg.GateRule(id); r.NotAuthor && r.Threshold == len(r.Principals) {
			d.add("config", LevelNote, "", "gate %s needs all of %s, and no author of the change: if one of them commits "+
				"during a run or accepts the turn that asks, the gate cannot open in that run", id, r.People())
		}
	}
	if len(cfg.Authority.Approvers.Keys()) == 0 {
		d.add("config", LevelNote, "", "authority names no approvers: any person may approve")
	}
}

// opensItself lists the exit gates when not one of them needs a person.
func opensItself(cfg *config.Config) []string {
	var out []string
	for _, phase := range cfg.Phases() {
		id := cfg.Route(phase).ExitGate
		if needsPerson(cfg, phase, id) {
			return nil
		}
		if id == "" {
			id = "no gate after " + phase
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// needsPerson reports a gate that agents cannot pass, whatever they hand in.
func needsPerson(cfg *config.Config, phase, id string) bool {
	gate := cfg.Gate(id)
	switch {
	case gate == nil:
		return false
	case cfg.GateRule(id) != nil || gate.Credentialed:
		return true
	}
	for _, p := range gates.Files(cfg, phase) {
		if cfg.PersonSigns() && gates.SignoffDocument(cfg, p) {
			return true
		}
	}
	if !gate.RequiresHuman {
		return false
	}
	kind := run.GatePhase
	if phase == cfg.FinalPhase() {
		kind = run.GateCompletion
	}
	verdict := gates.EvaluateApproval(cfg, gates.ApprovalInput{
		GateType:     kind,
		Gate:         &gates.Result{GateID: &id, Passed: true},
		Phase:        phase,
		NextPhase:    cfg.NextPhase(phase),
		Participated: func(string, string) bool { return true },
		Visited:      func(string) bool { return true },
	})
	return !verdict.Auto
}

// signedOff finds documents whose sign-off is recorded but missing in the work tree: an approval
// was interrupted between the two. fix writes and commits them.
func (d *doctor) signedOff(ctx context.Context) {
	v := d.out.View
	if v == nil || v.Config == nil || v.State == nil || !v.Config.PersonSigns() {
		return
	}
	paths, err := d.r.UnsignedDocuments(v)
	switch {
	case err != nil:
		d.failed("config", err, "git agentxchain doctor")
		return
	case len(paths) == 0:
		return
	}
	d.add("leftover", LevelError, "git pull, where the commit was made elsewhere, else git agentxchain doctor --fix",
		"a person has approved %s, and the document here does not say so",
		wire.ListSome(paths, 1))
	if !d.fix {
		return
	}
	if _, err := d.r.SignDocuments(ctx); err != nil {
		d.failed("leftover", err, "git agentxchain approve --show")
		return
	}
	d.out.Findings[len(d.out.Findings)-1].Mended = true
}
