// One recorded operation: who, what it was decided on, what it changed.

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func opPage(v *view) error {
	id := v.r.PathValue("id")
	v.Title = "Operation " + plain(short(id))
	ctx, cancel := context.WithTimeout(v.r.Context(), 10*time.Second)
	defer cancel()
	if len(id) > 64 || len(id) < 4 || !isHex(id) {
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
	changes := block{ID: "changes", Title: "What it changed", Empty: "Nothing."}
	t := &table{Head: []string{"Member of the state", "Before", "After"}}
	before, _ := ojson.DecodeObject(d.StateBefore)
	after, _ := ojson.DecodeObject(d.StateAfter)
	keys := slices.Clone(after.Keys())
	for _, k := range before.Keys() {
		if !after.Has(k) {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		was, had := before.Get(k)
		is, has := after.Get(k)
		if had != has || !ojson.Equal(was, is) {
			t.Rows = append(t.Rows, []cell{code(k), code(shown(was, had)), code(shown(is, has))})
		}
	}
	for _, l := range d.Ledgers {
		what := counted(len(l.Appended), "row added", "rows added")
		if n := len(l.Amended); n > 0 {
			what += fmt.Sprintf(", %d amended", n)
		}
		if l.Rewritten != "" {
			what += ", rewritten: " + l.Rewritten
		}
		t.Rows = append(t.Rows, []cell{code(l.Ledger.Path()), {}, text(what)})
	}
	if len(t.Rows) > 0 {
		changes.Empty, changes.Table = "", t
	}
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

func isHex(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// shown is a member's value in a cell.
func shown(v any, has bool) string {
	if !has {
		return ""
	}
	return cut(string(ojson.Compact(v)), 400)
}
