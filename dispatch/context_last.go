// The last accepted turn in CONTEXT.md (docs/bundles.md#what-is-in-it row 9).

package dispatch

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (v *view) lastTurn(d *document) {
	r := v.last
	if r == nil {
		return
	}
	d.block("## Last Accepted Turn")
	var l list
	l.field("Turn", code(r.String("turn_id")))
	l.field("Role", orDash(line(r.String("role"))))
	l.field("Runtime", orDash(line(r.String("runtime_id"))))
	l.field("Summary", orDash(line(r.String("summary"))))
	if rows := r.Objects("decisions"); len(rows) > 0 {
		l.label("Decisions")
		nested(&l, rows, func(o *ojson.Object) string {
			return orDash(line(o.String("id"))) + ": " + line(o.String("statement"))
		})
	}
	if rows := r.Objects("objections"); len(rows) > 0 {
		l.label("Objections")
		nested(&l, rows, objectionLine)
	}
	d.block(l.String())
	d.block(v.openObjections())
	files := r.Strings("files_changed")
	if len(files) > 0 {
		d.block("### Files Changed\n\n" + codes(files))
	}
	if v.reviewer() {
		if blocks := v.previews(files, code, func(p string) string { return p }); blocks != nil {
			d.block("### Changed File Previews")
			for _, b := range blocks {
				d.block(b)
			}
		}
		v.proposal(d)
	}
	d.block(v.verification())
	if v.reviewer() {
		if log := logExcerpt(v.LastLog); log != "" {
			d.block("### Dispatch Log Excerpt\n\n" + log)
		}
	}
	if o := r.Object("observed_artifact"); len(o.Array("files_changed")) > 0 {
		var l list
		l.field("Files observed", strconv.Itoa(len(o.Array("files_changed"))))
		l.field("Files declared", strconv.Itoa(len(files)))
		if ref := o.String("baseline_ref"); ref != "" {
			l.field("Compared with", code(ref))
		}
		if n := len(o.Array("attributed_to_concurrent_siblings")); n > 0 {
			l.field("Attributed to concurrent turns", strconv.Itoa(n))
		}
		d.block("### Observed Artifact\n\n" + l.String())
	}
}

// nested adds rows as second-level bullets, bounded.
func nested(l *list, rows []*ojson.Object, text func(*ojson.Object) string) {
	for i, o := range rows {
		if i == maxDecisions {
			*l = append(*l, fmt.Sprintf("  - … and %d more, left out here", len(rows)-i))
			return
		}
		l.at("  - ", text(o))
	}
}

func objectionLine(o *ojson.Object) string {
	s := fmt.Sprintf("%s (%s)", orDash(line(o.String("id"))), orDash(line(o.String("severity"))))
	if st := line(o.String("statement")); st != "" {
		s += ": " + st
	}
	return s
}

// openObjections lists unresolved objections of earlier turns, below the last turn's heading, where the context
// model knows it.
func (v *view) openObjections() string {
	rows := v.OpenObjections
	if rows == nil {
		rows = v.Index.OpenObjections
	}
	var l list
	last := v.last.String("turn_id")
	for i, o := range rows {
		if i == maxDecisions {
			l.add("… and %d more, left out here", len(rows)-i)
			break
		}
		s := objectionLine(o)
		if id := o.String("turn_id"); id != "" && id != last {
			s += " — raised in " + code(id)
		}
		l.add("%s", s)
	}
	if len(l) == 0 {
		return ""
	}
	return "### Open Objections\n\nRaised in this run and still open. If your turn settles one, name it again in your `objections` with `status` `resolved`.\n\n" +
		l.String()
}

func (v *view) verification() string {
	ver := v.last.Object("verification")
	if ver.Len() == 0 {
		return ""
	}
	var l list
	status := ver.String("status")
	l.field("Status", orDash(line(status)))
	if norm := v.last.Object("normalized_verification"); norm.String("status") != "" &&
		norm.String("status") != status {
		s := line(norm.String("status"))
		if reason := line(norm.String("reason")); reason != "" {
			s += " — " + reason
		}
		l.field("Normalized status", s)
	}
	if c := ver.Strings("commands"); len(c) > 0 {
		l.field("Commands", inlineCodes(c))
	}
	if s := ver.String("evidence_summary"); s != "" {
		l.field("Evidence", line(s))
	}
	out := "### Verification\n\n" + l.String()
	rows := ver.Objects("machine_evidence")
	if len(rows) == 0 {
		return out
	}
	var b strings.Builder
	b.WriteString("\n\n| Command | Exit code | Expected |\n|---------|-----------|----------|\n")
	for i, e := range rows {
		if i == maxDecisions {
			fmt.Fprintf(&b, "\n_%d further commands are left out here._", len(rows)-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(code(e.String("command"))), number(e, "exit_code"),
			number(e, "expected_exit_code"))
	}
	return out + b.String()
}

func number(o *ojson.Object, key string) string {
	if n, ok := o.Int(key); ok {
		return strconv.Itoa(n)
	}
	return "—"
}

// proposal shows a materialised proposal to its reviewer (docs/spec/observation.md#derived-reviews-and-proposals).
func (v *view) proposal(d *document) {
	ref := strings.TrimSuffix(v.last.Object("artifact").String("ref"), "/")
	if !strings.HasPrefix(ref, wire.ProposedDir+"/") || !safePath(ref) {
		return
	}
	summary, ok := v.sample(ref + "/PROPOSAL.md")
	files := proposedFiles(summary.text)
	var l list
	l.field("Ref", code(ref))
	l.field("Files proposed", strconv.Itoa(len(files)))
	d.block("### Proposed Artifact\n\n" + l.String())
	if !ok {
		d.block("_The proposal's summary is no longer there._")
		return
	}
	d.block(summary.preview(proposalLines))
	actions := make(map[string]string, len(files))
	var paths []string
	for _, f := range files {
		// A deletion has no text to show.
		if _, dup := actions[f.path]; !dup && f.action != "delete" && safePath(f.path) {
			paths = append(paths, f.path)
		}
		actions[f.path] = f.action
	}
	blocks := v.previews(paths,
		func(p string) string { return code(p) + " (" + actions[p] + ")" },
		func(p string) string { return path.Join(ref, p) })
	if blocks != nil {
		d.block("### Proposed File Previews")
		for _, b := range blocks {
			d.block(b)
		}
	}
}

type proposedFile struct{ path, action string }

// proposedFiles reads the file list of a PROPOSAL.md: one "- `path` — action" per line below "## Files".
func proposedFiles(text string) []proposedFile {
	var out []proposedFile
	in := false
	for l := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(l, "## ") {
			in = strings.TrimSpace(l) == "## Files"
			continue
		}
		rest, ok := strings.CutPrefix(l, "- `")
		if !in || !ok {
			continue
		}
		i := strings.LastIndex(rest, "` — ")
		if i <= 0 {
			continue
		}
		switch action := strings.TrimSpace(rest[i+len("` — "):]); action {
		case "create", "modify", "delete":
			out = append(out, proposedFile{rest[:i], action})
		}
	}
	return out
}
