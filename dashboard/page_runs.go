// The runs of the project as small pictures side by side; one run; two compared.

package dashboard

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/restore/diff"
)

// runsOnPage is how many runs are on one page.
const runsOnPage = 24

// runsPage shows all runs of the project as small multiples, the newest first.
func runsPage(v *view) error {
	v.Title = "Runs"
	ids := v.runIDs()
	picked, older, newer := v.windowOf("", runsOnPage, len(ids), func(int) bool { return true })
	shown := make([]string, len(picked))
	for i, k := range picked {
		shown[i] = ids[k]
	}
	rows, facts := v.runRows(shown), v.factsOf(shown)
	v.Lead = v.runsLead(len(ids))
	b := block{ID: "runs", Title: "All runs", Older: older, Newer: newer}
	if len(ids) == 0 {
		b.Empty = "No run has been started yet."
	}
	if len(ids) > 1 {
		v.Blocks = append(v.Blocks, compareForm(ids, ids[len(ids)-2], ids[len(ids)-1]))
	}
	for i, id := range shown {
		b.Parts = append(b.Parts, v.smallRun(i, id, rows[id], v.drawRun(id, facts)))
	}
	v.Blocks = append(v.Blocks, b)
	return nil
}

func (v *view) runsLead(n int) string {
	if n == 0 {
		return ""
	}
	out := counted(n, "run", "runs")
	ended := map[string]int{}
	for _, e := range v.lastRows() {
		ended[e.Kind]++
	}
	var parts []string
	for _, status := range []string{"completed", "blocked", "failed"} {
		if ended[status] > 0 {
			parts = append(parts, strconv.Itoa(ended[status])+" "+status)
		}
	}
	if len(parts) > 0 {
		out += "; the history has " + strings.Join(parts, ", ")
	}
	return out + "."
}

// lastRows returns the last rows of the runs of run-history.jsonl: a run has one for each time it
// was blocked.
func (v *view) lastRows() map[string]entry {
	out := make(map[string]entry)
	for _, e := range v.m.runHistory.entries() {
		if e.Run != "" {
			out[e.Run] = e
		}
	}
	return out
}

// runIDs returns the runs with a row in the history, by their first one, and the current run.
func (v *view) runIDs() []string {
	var ids []string
	seen := make(map[string]bool)
	for _, e := range v.m.runHistory.entries() {
		if e.Run != "" && !seen[e.Run] {
			seen[e.Run] = true
			ids = append(ids, e.Run)
		}
	}
	if now := v.currentRun(); now != "" {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == now })
		ids = append(ids, now)
	}
	return ids
}

func (v *view) currentRun() string {
	if v.s.Sight == nil {
		return ""
	}
	return v.s.Sight.View.Run
}

// runRows returns the rows of some runs; for a run that goes on, the row that it would have now.
func (v *view) runRows(ids []string) map[string]*ojson.Object {
	var picked []entry
	last := v.lastRows()
	for _, id := range ids {
		if e, ok := last[id]; ok {
			picked = append(picked, e)
		}
	}
	out := make(map[string]*ojson.Object)
	for _, row := range v.m.runHistory.decode(picked) {
		out[row.String("run_id")] = row
	}
	if now := v.currentRun(); slices.Contains(ids, now) && now != "" {
		w := v.s.Sight.View
		row := agentrun.StandingRow(agentrun.HistoryFacts{
			Config:     w.Config,
			State:      w.State,
			Index:      w.Index,
			RecordedAt: v.Now,
		})
		if row != nil {
			out[now] = row
		}
	}
	return out
}

// factsOf returns what the pictures of some runs show, by run. Rows that name no run belong to the
// current one; a person's decision belongs to every run, as a picture uses only those at its own
// gates.
func (v *view) factsOf(ids []string) map[string][]*timeline.Fact {
	now := v.currentRun()
	out := make(map[string][]*timeline.Fact, len(ids))
	for _, id := range ids {
		out[id] = nil
	}
	for _, l := range []*ledger{v.m.events, v.m.history, v.m.decisions} {
		rows := l.entries()
		for i := range rows {
			f := rows[i].fact
			if f == nil {
				continue
			}
			to := []string{f.Run}
			if f.Run == "" && l == v.m.decisions {
				to = ids
			} else if f.Run == "" {
				to[0] = now
			}
			for _, id := range to {
				if list, ok := out[id]; ok {
					out[id] = append(list, f)
				}
			}
		}
	}
	return out
}

// drawRun returns the picture of one run. What is open in the current run of a live project ends
// now.
func (v *view) drawRun(id string, facts map[string][]*timeline.Fact) *timeline.Drawing {
	opt := timeline.Options{Run: id}
	if id == v.currentRun() {
		opt.Now = v.clock()
	}
	return timeline.Draw(timeline.Build(facts[id], opt))
}

func runLink(id string) cell { return link(id, "/runs/"+url.PathEscape(id)) }

func (v *view) smallRun(i int, id string, row *ojson.Object, d *timeline.Drawing) block {
	b := block{ID: "run-" + strconv.Itoa(i), Lead: []cell{runLink(id), standing(row.String("status"))}}
	sum := d.Total()
	if !d.Start.IsZero() {
		b.Lead = append(b.Lead, v.moment(d.Start), text("took "+timeline.Lasting(d.End.Sub(d.Start))))
	}
	b.Lead = append(b.Lead, text(counted(sum.Turns, "turn", "turns")))
	if sum.Retries > 0 {
		b.Lead = append(b.Lead, text(counted(sum.Retries, "retry", "retries")))
	}
	b.Lead = append(b.Lead, text(costOf(row)))
	if by := openers(d); by != "" {
		b.Lead = append(b.Lead, text("gates opened by "+by))
	}
	if s := row.Object("retrospective").String("headline"); s != "" {
		b.Lead = append(b.Lead, text(fit(s, 160)))
	}
	if len(d.Turns)+len(d.Posts) > 0 {
		b.Drawing = template.HTML(d.Small("r" + strconv.Itoa(i))) //nolint:gosec // it escapes what it shows
	}
	return b
}

// costOf returns what a run cost, if its row says.
func costOf(row *ojson.Object) string {
	usd, ok := row.Float("total_cost_usd")
	if !ok {
		return "cost unknown"
	}
	if usd == 0 {
		return agentrun.SpentText(0)
	}
	return dollars(usd)
}

// openers returns those who opened gates, each once.
func openers(d *timeline.Drawing) string {
	var by []string
	for _, p := range d.Posts {
		if p.Opened && p.By != "" && !slices.Contains(by, p.By) && len(by) < 5 {
			by = append(by, p.By)
		}
	}
	return strings.Join(by, ", ")
}

// runPage shows one run, the current one or an earlier one, from its rows.
func runPage(v *view) error {
	id := v.r.PathValue("id")
	ids := v.runIDs()
	at := slices.Index(ids, id)
	if at < 0 {
		return errMissing{"No run of this project has this name. All runs are on the page Runs."}
	}
	v.Title = "Run " + plain(id)
	row := v.runRows([]string{id})[id]
	d := v.drawRun(id, v.factsOf([]string{id}))
	retro := row.Object("retrospective")
	v.Lead = plain(retro.String("headline"))
	b := block{ID: "run", Title: "Outcome", All: cell{Text: "All runs", Href: "/runs"}, Facts: []fact{
		{"Status", standing(row.String("status"))},
		{"Started", v.moment(instant(row.String("started_at")))},
		{"Completed", v.moment(instant(row.String("completed_at")))},
		{"Took", text(timeline.Lasting(d.End.Sub(d.Start)))},
		{"Turns", text(counted(d.Total().Turns, "turn", "turns") + ", " +
			counted(d.Total().Retries, "retry", "retries"))},
		{"Cost", text(costOf(row))},
		{"Phases completed", text(strings.Join(row.Strings("phases_completed"), ", "))},
		{"Roles", text(strings.Join(row.Strings("roles_used"), ", "))},
		{"Gates opened by", text(openers(d))},
		{"Decisions", value(row.Value("decisions_count"))},
	}}
	if s := row.String("blocked_reason"); s != "" {
		b.Facts = append(b.Facts, fact{"Blocked", toned(s, bad)})
	}
	if p := row.Object("provenance"); p != nil {
		if s := p.String("parent_run_id"); slices.Contains(ids, s) {
			b.Facts = append(b.Facts, fact{"Goes on from", runLink(s)})
		}
		b.Facts = append(b.Facts, fact{"Trigger", text(words(p.String("trigger")))})
	}
	v.Blocks = append(v.Blocks, b)
	if len(ids) > 1 {
		other := ids[max(at-1, 0)]
		if at == 0 {
			other = ids[1]
		}
		v.Blocks = append(v.Blocks, compareForm(ids, other, id))
	}
	v.Blocks = append(v.Blocks, v.pictureOf(d, block{ID: "picture", Title: "The run in time"}, nil))
	return nil
}

// comparePage compares two runs, as git agentxchain diff does.
func comparePage(v *view) error {
	v.Title = "Two runs"
	left, right := v.q.Get("left"), v.q.Get("right")
	ids := v.runIDs()
	v.Blocks = append(v.Blocks, compareForm(ids, left, right))
	if left == "" || right == "" {
		v.Lead = "Choose two runs."
		return nil
	}
	// The rows of thousands of other runs need not be read.
	meant := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !strings.HasPrefix(id, left) && !strings.HasPrefix(id, right)
	})
	rows := v.runRows(meant)
	list := make([]*ojson.Object, 0, len(meant))
	for _, id := range meant {
		if rows[id] != nil {
			list = append(list, rows[id])
		}
	}
	var sides [2]*ojson.Object
	for i, ref := range []string{left, right} {
		row, err := diff.Find(list, ref)
		if err != nil {
			return errMissing{plain(err.Error())}
		}
		sides[i] = row
	}
	d := diff.Runs(sides[0], sides[1])
	sum := d.Object("summary")
	v.Lead = compared[sum.String("outcome")]
	facts := v.factsOf([]string{sides[0].String("run_id"), sides[1].String("run_id")})
	pair := block{ID: "pair", Title: "The two in time"}
	for i, row := range sides {
		id := row.String("run_id")
		pair.Parts = append(pair.Parts, v.smallRun(i, id, row, v.drawRun(id, facts)))
	}
	worse := block{ID: "worse", Title: "Became worse", Empty: "Nothing became worse."}
	if found := d.Objects("regressions"); len(found) > 0 {
		t := &table{Head: []string{"Weight", "Finding", "What"}}
		for _, r := range found {
			t.Rows = append(t.Rows, []cell{text(r.String("severity")), code(r.String("id")),
				toned(r.String("message"), bad)})
		}
		worse.Empty, worse.Table = "", t
	}
	v.Blocks = append(v.Blocks, pair, worse, changedFacts(d))
	return nil
}

// compared is the verdict of diff in words.
var compared = map[string]string{
	"unchanged": "The two runs are alike in everything that is compared.",
	"changed":   "The two runs differ; neither is better.",
	"improved":  "The second run did better.",
	"regressed": "The second run did worse.",
	"mixed":     "The second run did better in some and worse in others.",
}

// changedFacts returns the table of differences.
func changedFacts(d *ojson.Object) block {
	b := block{ID: "changed", Title: "What differs", Empty: "Nothing."}
	t := &table{Head: []string{"What", "First run", "Second run", "Difference"}}
	for label, o := range diff.Changed(d) {
		t.Rows = append(t.Rows, []cell{text(label), text(diff.Shown(label, o.Value("left"))),
			text(diff.Shown(label, o.Value("right"))), text(diff.Shown(label, o.Value("delta")))})
	}
	return b.filled(t)
}

// compareForm asks for two runs; of many, the newest can be chosen, and those already chosen.
func compareForm(ids []string, left, right string) block {
	newest := slices.Clone(ids[max(len(ids)-pageSize, 0):])
	slices.Reverse(newest)
	choice := func(name, label, now string) field {
		list := newest
		if now != "" && !slices.Contains(list, now) && slices.Contains(ids, now) {
			list = append(slices.Clone(list), now)
		}
		return field{Name: name, Label: label, Value: now, Choices: list}
	}
	return block{ID: "compare", Title: "Compare", Filter: &filter{
		Action: "/runs/compare",
		Button: "Compare",
		Fields: []field{choice("left", "First run", left), choice("right", "Second run", right)},
	}}
}
