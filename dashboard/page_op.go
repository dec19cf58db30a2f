// One recorded operation: who made it, what it was decided on, what it changed.

package dashboard

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func opPage(v *view) error {
	id := v.r.PathValue("id")
	v.Title = "Operation " + plain(short(id))
	ctx, cancel := context.WithTimeout(v.r.Context(), 10*time.Second)
	defer cancel()
	if len(id) > 64 || len(id) < 4 || strings.Trim(id, "0123456789abcdef") != "" {
		return errMissing{"This names no operation."}
	}
	release, ok := v.srv.slot(ctx)
	if !ok {
		return errBusy
	}
	d, err := v.m.src.operation(ctx, id)
	release()
	if err != nil {
		if c := protocolError(err); c != nil && c.code == "not_found" || errors.Is(err, errNoRecord) {
			return errMissing{plain(err.Error())}
		}
		return err
	}
	v.Lead = plain(d.Subject)
	b := block{ID: "operation", Title: "Operation", Facts: []fact{
		{"Kind", text(words(d.Name))},
		{"When", v.moment(d.Time)},
		{"By", text(d.Actor + " <" + d.Email + ">")},
		{"Role", text(d.Role)},
		{"Turn", turnLink(d.Turn)},
		{"Run", code(d.Run)},
		{"Commit", code(string(d.Op))},
		{"State", code(d.StateDigest)},
		{"Code at", code(short(d.CodeHead))},
	}}
	if len(d.Parents) > 0 {
		b.Facts = append(b.Facts, fact{"After", opLink(string(d.Parents[0]))})
	}
	changes := opChanges(d)
	files := block{ID: "files", Title: "Files it wrote", Empty: "None."}
	if len(d.Files) > 0 {
		files.Empty, files.Table = "", fileNames(d.Files)
	}
	record := block{ID: "record", Parts: []block{{
		ID:     "record-document",
		Title:  "The record",
		Folded: true,
		Pre:    longText(string(ojson.Pretty(d.Record)), maxPre),
	}}}
	why, err := v.why(string(d.Op))
	if err != nil {
		return err
	}
	v.Blocks = []block{b}
	if len(why.Parts) > 0 {
		v.Blocks = append(v.Blocks, why)
	}
	v.Blocks = append(v.Blocks, changes, files, record)
	return nil
}

// opChanges shows how the operation changed the state and the ledgers, as a patch of documents.
func opChanges(d *runner.OpDetail) block {
	before, _ := ojson.DecodeObject(d.StateBefore)
	after, _ := ojson.DecodeObject(d.StateAfter)
	p := patch{room: maxPre}
	if list := ojson.Differences(before, after); len(list) > 0 {
		p.line("file", "state")
		p.differences(list)
	}
	for _, l := range d.Ledgers {
		p.ledger(&l)
	}
	b := block{ID: "changes", Title: "What it changed", Diff: p.lines}
	if len(p.lines) == 0 {
		b.Empty = "Nothing."
	}
	if p.left > 0 {
		b.Note = counted(p.left, "part is", "parts are") + " left out: git agentxchain show " +
			plain(short(string(d.Op))) + " --full"
	}
	return b
}

// patch is a list of changed documents, of at most room bytes.
type patch struct {
	lines []diffLine
	room  int
	left  int // parts for which there was no room
}

func (p *patch) line(class, s string) {
	p.room -= len(s)
	p.lines = append(p.lines, diffLine{class, visible(s)})
}

// fits reports whether there is room for a part of the patch; it counts a part without room.
func (p *patch) fits() bool {
	if p.room <= 0 || len(p.lines) >= maxDiffRuns {
		p.left++
		return false
	}
	return true
}

func (p *patch) differences(list []ojson.Difference) {
	for _, x := range list {
		if !p.fits() {
			continue
		}
		p.line("hunk", x.At)
		if x.Had {
			p.value("del", "- ", x.Before)
		}
		if x.Has {
			p.value("add", "+ ", x.After)
		}
	}
}

func (p *patch) ledger(l *runner.LedgerChange) {
	name := l.Ledger.Path()
	if l.Rewritten != "" {
		name += " (rewritten: " + l.Rewritten + ")"
	}
	p.line("file", name)
	for _, a := range l.Amended {
		before, _ := ojson.DecodeObject(a.Old)
		after, _ := ojson.DecodeObject(a.New)
		p.differences(ojson.Differences(before, after))
	}
	for _, row := range l.Appended {
		if !p.fits() {
			continue
		}
		if o, err := ojson.DecodeObject([]byte(row)); err == nil {
			p.value("add", "+ ", o)
		} else {
			p.marked("add", "+ ", row)
		}
	}
}

// value adds a document with a sign before each of its lines.
func (p *patch) value(class, sign string, v ojson.Value) {
	p.marked(class, sign, strings.TrimSuffix(string(ojson.Pretty(v)), "\n"))
}

func (p *patch) marked(class, sign, s string) {
	s = longText(s, max(p.room, 2000))
	p.line(class, sign+strings.ReplaceAll(s, "\n", "\n"+sign))
}
