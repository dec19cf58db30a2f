// PROMPT.md: what the actor has to do and how it answers (docs/bundles.md#what-is-in-it).

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// prompt writes the sections in the protocol's order.
func (v *view) prompt() []byte {
	d := &document{}
	d.blockf("# Turn Assignment: %s (%s)", line(v.role.Title), v.roleID)
	d.block(strings.Join([]string{
		"**Run:** " + line(v.State.Run()),
		"**Turn:** " + v.Turn.TurnID,
		"**Phase:** " + line(v.State.Phase),
		fmt.Sprintf("**Attempt:** %d", max(v.Turn.Attempt, 1)),
		"**Write Authority:** " + line(v.role.WriteAuthority),
		"**Runtime:** " + line(v.Turn.RuntimeID),
	}, "\n"))
	d.block("## Your Mandate")
	d.block(verbatim(v.role.Mandate))
	d.block(v.beforeStart())
	d.block(v.protocolRules())
	d.block(v.writeAuthority())
	d.block(v.implementationDuty())
	d.block(v.charterDuty())
	d.block(v.crossRepoDuty())
	d.block(v.responsibilities())
	d.block(v.exitGate())
	d.block(v.previousAttempt())
	d.block(v.injectedIntent())
	d.block(v.conflict())
	if text := verbatim(v.Prompts[v.roleID]); text != "" {
		d.block("## Role-Specific Instructions")
		d.block(text)
	}
	d.block(v.singleShot())
	d.block(v.requiredOutput())
	d.block(v.fieldRules())
	return d.bytes()
}

func (v *view) protocolRules() string {
	var b strings.Builder
	b.WriteString("## Protocol Rules\n\n")
	if v.lastTurnID() != "" {
		b.WriteString("1. Challenge the turn before yours. Look for what is wrong in it and say so; agreement without a check counts for nothing.\n")
	} else {
		b.WriteString("1. Challenge what you were given. There is no turn before yours: question the goal and what the documents take for granted.\n")
	}
	b.WriteString("2. Claim only verification you carried out in this turn, with the exit codes you saw.\n")
	b.WriteString("3. Leave the run's own records alone. A result that touches one of these is refused:\n")
	for _, p := range reservedPaths() {
		b.WriteString("   - " + code(p) + "\n")
	}
	if v.Config.Authority != nil {
		b.WriteString("   - " + inlineCodes(wire.SignerFiles()) + ", which say whose signatures count\n")
	}
	for _, p := range gates.Documents(v.Config) {
		if v.personSigns(p) {
			b.WriteString("   - the sign-off line of " + code(p) + ", which is a person's\n")
		}
	}
	fmt.Fprintf(&b, "4. Answer with one JSON document, staged at %s.\n", code(v.staging))
	b.WriteString("5. Propose who acts next; the decision is not yours, so do not act as if it had been taken.\n")
	return b.String()
}

func (v *view) writeAuthority() string {
	var l list
	switch v.role.WriteAuthority {
	case wire.ReviewOnly:
		l.add("Product files are not yours to change, create or delete.")
		l.add("You may write below `.planning/` and `.agentxchain/reviews/`; name every such file in `files_changed`.")
		l.add("`artifact.type` is `review`.")
		if v.Config.Rules.ChallengeRequired {
			l.add("At least one objection is required. A small one is enough if it is real.")
		}
		if v.remote() {
			l.add("Your runtime writes no files: the review you return is filed at %s.", code(v.reviewPath()))
			l.add("Leave `files_changed` empty and put all you have to say into the result.")
		}
	case wire.Authoritative:
		l.add("You edit the work tree directly.")
		nothing := "."
		if v.implementationDuty() != "" {
			nothing = ", which is not a completed turn here, see below."
		}
		l.add("`artifact.type` is `workspace` for edits left in the work tree, `commit` when you committed them, and `review` when you changed nothing%s", nothing)
		l.add("Every file you changed, created or deleted is named in `files_changed`. A change that is found but not declared makes the result fail.")
		l.add("Leave no git repository behind inside this one, such as a scaffolding tool makes: no result can declare it. Remove its `.git`, and declare its files.")
	case wire.Proposed:
		l.add("You propose changes; you do not make them in the work tree.")
		l.add("`artifact.type` is `patch`.")
		if v.remote() {
			l.add("Put the changes into `proposed_changes[]`, one object a file: `path` (from the project root), `action` (`create`, `modify` or `delete`) and, for `create` and `modify`, `content`: the file's whole new text.")
			l.add("A completed turn without `proposed_changes` is refused, unless it asks to complete the run.")
			l.add("Once accepted, the proposal is kept below %s until a person applies it.",
				code(wire.ProposedDir+"/"+v.Turn.TurnID+"/"))
		} else {
			l.add("No proposal is made of what your runtime hands over: describe in `summary` and `decisions` what a role that may write has to change.")
		}
	default:
		return ""
	}
	return fmt.Sprintf("### Write Authority: %s\n\n%s", v.role.WriteAuthority, l)
}

func (v *view) reviewPath() string {
	return wire.ReviewsDir + "/" + v.Turn.TurnID + "-" + v.roleID + "-review.md"
}

func (v *view) implementationDuty() string {
	if v.role.WriteAuthority != wire.Authoritative || v.State.Phase != "implementation" {
		return ""
	}
	if v.Index.ProductTurn {
		return "" // a turn that changes nothing may be completed here now
	}
	text := "### Implementation Phase: Code Production Required\n\n" +
		"This phase exists to change the product, and no turn of this run has done so yet. A completed turn has to change at least one file outside `.planning/` and `.agentxchain/`; planning documents and reviews alone are refused. "
	if v.route != nil && v.route.EntryRole != "" && v.route.EntryRole != v.roleID {
		return text +
			"Where that is not your mandate, do not report `completed`: report `blocked`, say why, and propose " +
			code(v.route.EntryRole) + " as the next role."
	}
	return text + "If you cannot produce code, report `blocked` or `needs_human` and say why."
}

func (v *view) charterDuty() string {
	c, _ := v.State.Extra.Value("charter_materialization_pending").(*ojson.Object)
	if c == nil || v.State.Phase != "planning" {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Charter Materialization Required\n\nNew work was taken on and its planning documents do not cover it yet. Bring them up to date before asking to leave planning.\n")
	if s := c.String("charter"); s != "" {
		b.WriteString("\n" + quote(s) + "\n")
	}
	if items := c.Strings("acceptance_contract"); len(items) > 0 {
		b.WriteString("\nAcceptance contract:\n\n" + numbered(items) + "\n")
	}
	var paths []string
	for _, a := range v.artifacts() {
		paths = append(paths, a.Path)
	}
	if len(paths) > 0 {
		b.WriteString("\nDocuments to bring up to date:\n\n" + codes(paths) + "\n")
	}
	return b.String()
}

// responsibilities lists the workflow-kit artifacts for which this role is responsible.
func (v *view) responsibilities() string {
	var l list
	for _, a := range v.artifacts() {
		if v.owner(a) != v.roleID {
			continue
		}
		need, sem := "optional", "—"
		if a.Required {
			need = "required"
		}
		if a.Semantics != "" {
			sem = code(a.Semantics)
		}
		item := fmt.Sprintf("%s — %s; semantics: %s; status: %s", code(a.Path), need, sem, v.presence(a.Path))
		if h := v.gateHint(a); h != "" {
			item += "; must hold " + h
		}
		l.add("%s", item)
	}
	if len(l) == 0 {
		return ""
	}
	c := v.capability()
	var duty string
	switch c.effectivePath {
	case "review_artifact_only", "invalid_review_only_binding", "invalid_authoritative_binding":
		duty = "You cannot write these files. Read them and attest to them; if a required one is missing or not good enough, object and send the work back to a role that can write it."
	case "proposal_apply_required":
		duty = "Propose what is missing. It counts for the gate only once the proposal has been applied, so do not ask to leave the phase in the same turn."
	default:
		duty = "See to it that the required ones exist and are sound before you ask to leave the phase."
	}
	return fmt.Sprintf("## Workflow-Kit Responsibilities\n\nIn phase %s you answer for:\n\n%s\n\n%s",
		code(v.State.Phase), l, duty)
}

func (v *view) capability() capability {
	var raw *ojson.Object
	if rt, ok := v.Config.Runtimes.Get(v.Turn.RuntimeID); ok && rt != nil {
		raw = rt.Raw
	}
	return capabilityOf(v.runtimeType(), raw, v.role.WriteAuthority)
}

func (v *view) singleShot() string {
	return "## Single-Shot Execution (read carefully)\n\n" +
		"This turn is one piece of work from start to staged result. You will not be called back.\n\n" +
		"- Run every command in the foreground and read its output before going on. Start nothing in the background whose outcome you would have to wait for.\n" +
		"- Put nothing off to a later message: what is not in the staged result did not happen.\n" +
		"- Stage the result last, when the work and its evidence are complete, and stop there. Do not edit files after that.\n" +
		"- If you cannot finish, still stage a result, with `status` `blocked`, `failed` or `needs_human`."
}

func (v *view) requiredOutput() string {
	var b strings.Builder
	b.WriteString("## Required Output\n\nWrite the result to this file, creating the directory if need be:\n\n")
	b.WriteString(fenced("", v.staging))
	b.WriteString("\n\nThis is its form. Replace every `<…>`; one that is left makes the result invalid. Keep every member unless a rule below calls it optional.\n\n")
	b.WriteString(fenced("json", string(ojson.Pretty(v.template()))))
	if !v.remote() {
		fmt.Fprintf(&b,
			"\n\nRun `git agentxchain verify turn %s` before you stop. It changes nothing and says what is wrong with the result; correct it until it ends with 0.", v.Turn.TurnID)
	}
	fmt.Fprintf(&b, "\n\nThe turn is then taken in with `git agentxchain accept %s`.", v.Turn.TurnID)
	return b.String()
}
