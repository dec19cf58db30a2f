// approve --show: everything that the answer to a waiting gate is about.

package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

func runApproveShow(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	g, err := r.PendingGate(ctx)
	if err != nil {
		return err
	}
	f.Out.Page(ctx)
	f.Out.Emit(pendingGateObject(g), func(p *term.Printer) {
		printPendingGate(p, g)
		printObjections(p, g)
		printGateDiff(p, g)
	})
	return nil
}

// pendingGateObject returns the object of approve --json --show.
func pendingGateObject(g *gate.Pending) *ojson.Object {
	docs := ojson.List(g.Documents, func(d gate.Document) *ojson.Object {
		return ojson.NewObject(
			"path", d.Path,
			"required", d.Required,
			"owned_by", ojson.OrNull(d.Owner),
			"present", d.Present,
			"sha256", ojson.OrNull(d.SHA256),
			"bytes", d.Size,
			"changed_since_run", d.SinceRun,
			"changed_since_phase", d.SincePhase,
			"changed_since_approval", d.SinceLast,
			"added", d.Added,
			"removed", d.Removed,
			"reasons", wire.NonNil(d.Reasons),
		)
	})
	var requested any
	if !g.RequestedAt.IsZero() {
		requested = term.Timestamp(g.RequestedAt)
	}
	var since any
	if g.Since.What != "" {
		since = ojson.NewObject("what", g.Since.What, "commit", ojson.OrNull(g.Since.Commit),
			"op", string(g.Since.Op), "at", term.Timestamp(g.Since.At))
	}
	return ojson.NewObject(
		"run_id", g.Run,
		"op", ojson.OrNull(string(g.Op)),
		"gate_type", g.Type,
		"gate_id", g.Gate,
		"from", ojson.OrNull(g.From),
		"to", ojson.OrNull(g.To),
		"requested_by_turn", ojson.OrNull(g.RequestedBy),
		"requested_by_role", ojson.OrNull(g.Role),
		"requested_at", requested,
		"summary", ojson.OrNull(g.Summary),
		"blocked_on", ojson.OrNull(g.BlockedOn),
		"evaluation", g.Result.Object(g.Type == run.GatePhase),
		"verification", ojson.OrNull(g.Verification),
		"documents", docs,
		"since", since,
		"diff", g.Diff,
		"diff_cut", ojson.OrNull(g.Cut),
		"open_objections", append([]*ojson.Object{}, g.Objections...),
		"files_changed", wire.NonNil(g.Changed),
		"more_files", g.MoreFiles,
		"checkpoint_sha", ojson.OrNull(g.Checkpoint),
		"gate_actions", actionRows(g.Actions),
		"approvals", run.VoteRows(g.Approvals),
		"approvals_dropped", run.VoteRows(g.Dropped),
		"authority", shared.RuleObject(g.Rule),
		"signs", wire.NonNil(g.Signs),
		"notes", noteRows(g.Result.Warnings),
		"yes", g.Yes,
		"no", g.No,
		"approvals_lapsed", agreement.LapseRows(g.Lapsed),
	)
}

// printPendingGate prints what is shown above the question: all but the diff and the texts of the
// objections.
func printPendingGate(p *term.Printer, g *gate.Pending) {
	to := "the run completes"
	if g.To != "" {
		to = term.OneLine(g.From) + " -> " + term.OneLine(g.To)
	}
	p.Field("Gate", "%s: %s", p.Bold(term.OneLine(g.Gate)), to)
	asked := "by " + cmp.Or(g.RequestedBy, "a turn that is not known")
	if g.Role != "" {
		asked += " (" + g.Role + ")"
	}
	if !g.RequestedAt.IsZero() {
		asked += ", " + p.Ago(g.RequestedAt)
	}
	p.Field("Asked", "%s", term.OneLine(asked))
	if g.Summary != "" {
		p.Field("Its words", "%s", term.OneLine(text.ClipRunes(g.Summary, 300)))
	}
	if g.BlockedOn != "" {
		p.Field("Blocked on", "%s", p.Red(term.OneLine(g.BlockedOn)))
	}
	if g.Result.Action == gates.ActionGateFailed {
		p.Field("Evidence", "%s", p.Red("the gate does not pass on the current files"))
	} else {
		p.Field("Evidence", "%s", p.Green("the gate passes on the current files"))
	}
	for _, reason := range g.Result.Reasons {
		p.Printf("%s - %s\n", term.Pad("", 14), term.OneLine(reason))
	}
	for _, w := range g.Result.Warnings {
		p.Field("Note", "%s", term.OneLine(w.Reason))
	}
	p.Field("Verification", "%s", cmp.Or(term.OneLine(g.Verification), "none is reported"))
	if len(g.Documents) > 0 {
		p.Println()
		t := &term.Table{Header: []string{"DOCUMENT", "OWNER", "NOW", "SHA256",
			"SINCE " + strings.ToUpper(sinceWord(g)), "SINCE THE PHASE BEGAN"}}
		if g.Since.What == "approval" {
			t.Header = append(t.Header, "SINCE THE RUN BEGAN")
		}
		for _, d := range g.Documents {
			now, style := text.Count(d.Size, "byte", "bytes"), p.Dim
			if !d.Present {
				now, style = "missing", p.Red
			}
			cells := []string{d.Path, d.Owner, now, text.Cut(d.SHA256, 12), lineCounts(&d), changed(d.SincePhase),
				changed(d.SinceRun)}
			t.Row(cells[:len(t.Header)]...)
			t.Emphasise(2, style)
		}
		p.Table(t)
		p.Println()
	}
	if n := len(g.Changed) + g.MoreFiles; n > 0 {
		shown := g.Changed[:min(len(g.Changed), 5)]
		more := ""
		if n > len(shown) {
			more = " and " + strconv.Itoa(n-len(shown)) + " more"
		}
		p.Field("Turn changed", "%s: %s%s",
			text.Count(n, "file", "files"), term.OneLine(strings.Join(shown, ", ")), more)
	}
	if n := len(g.Objections); n > 0 {
		p.Field("Objections", "%s", p.Yellow(strconv.Itoa(n)+" open"))
	} else {
		p.Field("Objections", "none open")
	}
	for _, a := range g.Actions {
		p.Field("Action", "%s", term.OneLine(a.Run))
	}
	if g.Rule != nil {
		p.Field("Decided by", "%s", term.OneLine(shared.ApproversText(g.Rule)))
	}
	for _, v := range g.Approvals {
		p.Field("Approved by", "%s", term.OneLine(shared.VoteText(v)))
	}
	shared.PrintNoLonger(p, g.Given)
	p.Field("Yes", "%s", term.OneLine(g.Yes))
	p.Field("No", "%s", term.OneLine(g.No))
}

func sinceWord(g *gate.Pending) string {
	if g.Since.What == "approval" {
		return "the last approval"
	}
	return "the run began"
}

func changed(is bool) string {
	if is {
		return "changed"
	}
	return "same"
}

func lineCounts(d *gate.Document) string {
	switch {
	case !d.SinceLast:
		return "same"
	case d.Added < 0 || d.Removed < 0:
		return "changed"
	}
	return "+" + strconv.Itoa(d.Added) + " -" + strconv.Itoa(d.Removed)
}

func printObjections(p *term.Printer, g *gate.Pending) {
	if len(g.Objections) == 0 {
		return
	}
	p.Println()
	for _, o := range g.Objections {
		p.Printf("%s (%s) by %s of %s: %s\n", p.Bold(term.OneLine(o.String("id"))),
			term.OneLine(o.String("severity")), term.OneLine(o.String("turn_id")),
			term.OneLine(o.String("role")), term.OneLine(o.String("statement")))
	}
}

func printGateDiff(p *term.Printer, g *gate.Pending) {
	p.Println()
	if g.Diff == "" && g.Cut == "" {
		when := strings.Replace(sinceWord(g), "the last approval", "a gate was last approved", 1)
		p.Printf("The documents are as they were when %s.\n", when)
		return
	}
	// Line by line, so that no byte of a document can colour, move or forge anything.
	for line := range strings.Lines(text.Lines(g.Diff)) {
		line = strings.TrimSuffix(line, "\n")
		style := func(s string) string { return s }
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"),
			strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			style = p.Bold
		case strings.HasPrefix(line, "+"):
			style = p.Green
		case strings.HasPrefix(line, "-"):
			style = p.Red
		case strings.HasPrefix(line, "@@"):
			style = p.Cyan
		}
		p.Println(style(line))
	}
	if g.Cut != "" {
		p.Println(p.Yellow("Cut: " + term.OneLine(g.Cut)))
	}
}
