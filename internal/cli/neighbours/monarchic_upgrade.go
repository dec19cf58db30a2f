// monarchic upgrade: a legacy plan or receipt in the strict form.

package neighbours

import (
	"errors"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	protocolwire "github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newMonarchicUpgradeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "upgrade",
		ArgsUsage: "[FILE|-]",
		Usage:     "write a portable plan or receipt in the strict form of the client boundary",
		Description: "Reads a Plan or an ExecutionReceipt of the portable family, which the client boundary calls legacy v0, from a file or standard input, " +
			"and writes the canonical bytes of the strict Plan or ExecutionReceipt to standard output; no repository is needed. " +
			"What the strict form has no place for is left out: a plan's objective, status and failures; unknown members. " +
			"A receipt with more than one task hash is refused, for it would lose them.",
		Action: func(c *ucli.Context) error {
			file := "-"
			if c.NArg() == 1 {
				file = c.Args().First()
			}
			return runMonarchicUpgrade(f, file)
		},
	}
}

func runMonarchicUpgrade(f *term.Factory, file string) error {
	name := term.OneLine(file)
	if file == "-" {
		name = "standard input"
	}
	data, err := shared.ReadStart(f, file, wire.MaxBytes)
	if err != nil {
		return term.Errorf("invalid_input", "cannot read %s: %w", name, err)
	}
	v, err := wire.Parse(data)
	if err != nil {
		return term.Errorf("invalid_json", "%s is not JSON: %w", name, err)
	}
	o, _ := v.(*ojson.Object)
	form, upgraded, err := upgradeLegacy(o)
	if err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("type", string(form), "document", wire.Encode(upgraded)), nil)
	if f.JSON() {
		return nil
	}
	if _, err := f.Out.Raw().Write(wire.Canonical(upgraded)); err != nil {
		return term.Errorf("io_failed", "cannot write the document: %w", err)
	}
	return nil
}

// upgradeLegacy distinguishes a plan from a receipt by its shape: the tags of both families are the
// same (docs/monarchic.md).
func upgradeLegacy(o *ojson.Object) (check.Type, any, error) {
	switch {
	case o.Has("receipt_id"), o.Has("intent_id") && o.Has("input_digest"):
		return "", nil, term.Errorf("invalid_argument", "the document has the strict form already")
	case o.Has("outcome_hash"), o.Has("plan_hash"), o.Has("task_hashes"):
		receipt, err := monarchic.UpgradeReceipt(o)
		return "client_boundary/execution_receipt", receipt, legacyRefusal("receipt", err)
	case o.Has("plan_id"), o.Has("steps"):
		plan, err := monarchic.UpgradePlan(o)
		return "client_boundary/plan", plan, legacyRefusal("plan", err)
	}
	return "", nil, term.Errorf("invalid_argument",
		"the document is neither a portable plan nor a portable execution receipt")
}

// legacyRefusal lists every fault that prevents a document from being upgraded.
func legacyRefusal(what string, err error) error {
	var faults wire.Problems
	if !errors.As(err, &faults) {
		return err
	}
	refusal := &protocolwire.Error{
		Code:    "pipeline_invalid",
		Field:   faults[0].Pointer,
		Message: "The " + what + " cannot be upgraded: " + faults.Error() + ".",
		Hint:    "git agentxchain monarchic validate FILE",
	}
	for _, p := range faults {
		refusal.Problems = append(refusal.Problems, protocolwire.Problem{
			Code:    p.Rule,
			Field:   p.Pointer,
			Message: p.String(),
		})
	}
	return refusal
}
