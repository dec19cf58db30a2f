// history, decisions and events: the ledgers of a run as people read them.

package look

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type listOptions struct {
	Limit int
	All   bool   // every run, not the current one only
	Run   string // this one: its id or the beginning of it
	Role  string
	Phase string
}

// filtered reports whether only some rows were requested.
func (o listOptions) filtered() bool { return o.Role != "" || o.Phase != "" || o.Run != "" }

func listFlags() []ucli.Flag {
	return []ucli.Flag{
		shared.LimitFlag("show the last `N` rows, 0 for all"),
		&ucli.BoolFlag{
			Name:    "all",
			Aliases: []string{"all-runs"},
			Usage:   "rows of all runs, not only of the current one",
		},
		&ucli.StringFlag{
			Name:  "run",
			Usage: "rows of this `RUN` (its id, or a unique prefix) instead of the current one",
		},
		&ucli.StringFlag{Name: "role", Usage: "only rows of this `ROLE`"},
		&ucli.StringFlag{Name: "phase", Usage: "only rows of this `PHASE`"},
	}
}

func listFrom(c *ucli.Context) (listOptions, error) {
	o := listOptions{
		Limit: c.Int("limit"),
		All:   c.Bool("all"),
		Run:   c.String("run"),
		Role:  c.String("role"),
		Phase: c.String("phase"),
	}
	if o.Limit < 0 {
		return o, term.UsageErrorf("--limit takes 0 or more, not %d", o.Limit)
	}
	if o.All && o.Run != "" {
		return o, term.UsageErrorf("--all and --run cannot be used together")
	}
	return o, nil
}

// ofRun reports whether rows of a run were requested.
func (o listOptions) ofRun(id, current string) bool {
	if o.Run != "" {
		return strings.HasPrefix(id, o.Run) || "run_"+o.Run == id
	}
	return o.All || id == current
}

// runFinder tells which run a row belongs to. The rows of decisions name a turn, and older rows not even that.
type runFinder struct {
	current string
	begun   time.Time         // of the current run
	turns   map[string]string // turn -> its run, of the accepted turns read so far
	next    func() (turn, run string, ok bool)
	stop    func()
	err     error
}

// newRunFinder returns a finder that reads the accepted turns, newest first, only as far back as the rows ask for:
// the newest decisions of a long run do not cost the reading of it all. Its user closes it.
func newRunFinder(ctx context.Context, r *runner.Runner, v *runner.View, l wire.Ledger) *runFinder {
	x := &runFinder{current: v.Run, turns: make(map[string]string)}
	x.begun, _ = wire.ParseTime(wire.OrEmpty(v.State.CreatedAt))
	x.next, x.stop = iter.Pull2(func(yield func(turn, run string) bool) {
		if l != wire.LedgerDecisions {
			return // the rows name their run
		}
		stopped := false
		_, x.err = r.Record().ViewRows(ctx, v, wire.LedgerHistory, 1, func(row *ojson.Object) bool {
			stopped = stopped || !yield(row.String("turn_id"), row.String("run_id"))
			return stopped // the one row that is kept ends the reading
		})
	})
	return x
}

// close ends the reading and returns what went wrong in it.
func (x *runFinder) close() error {
	x.stop()
	return x.err
}

// ofTurn returns the run of an accepted turn, "" for no turn and for one that is not in the history.
func (x *runFinder) ofTurn(turn string) string {
	for turn != "" {
		if id, ok := x.turns[turn]; ok {
			return id
		}
		read, id, ok := x.next()
		if !ok {
			return ""
		}
		x.turns[read] = id
	}
	return ""
}

// of returns the run of a row, "" if it is an earlier one that the row does not name.
func (x *runFinder) of(row *ojson.Object) string {
	if id := row.String("run_id"); id != "" {
		return id
	}
	for _, k := range [...]string{"turn_id", "requested_by_turn"} {
		if id := x.ofTurn(row.String(k)); id != "" {
			return id
		}
	}
	for _, k := range [...]string{"timestamp", "created_at", "failed_at"} {
		if at, err := wire.ParseTime(row.String(k)); err == nil && at.Before(x.begun) {
			return ""
		}
	}
	return x.current
}

// readRows reads the wanted rows of a ledger, oldest first.
func readRows(ctx context.Context, f *term.Factory, l wire.Ledger, o listOptions,
	keep func(*ojson.Object) bool) ([]*ojson.Object, error) {
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return nil, err
	}
	return rowsOf(ctx, r, v, l, o, keep)
}

func rowsOf(ctx context.Context, r *runner.Runner, v *runner.View, l wire.Ledger, o listOptions,
	keep func(*ojson.Object) bool) (_ []*ojson.Object, err error) {
	ofRun := func(*ojson.Object) bool { return true }
	if !o.All {
		runs := newRunFinder(ctx, r, v, l)
		defer func() { err = cmp.Or(err, runs.close()) }()
		ofRun = func(row *ojson.Object) bool { return o.ofRun(runs.of(row), v.Run) }
	}
	lines, err := r.Record().ViewRows(ctx, v, l, o.Limit, func(row *ojson.Object) bool {
		if !ofRun(row) {
			return false
		}
		if o.Role != "" && row.String("role") != o.Role || o.Phase != "" && row.String("phase") != o.Phase {
			return false
		}
		return keep == nil || keep(row)
	})
	if err == nil && len(lines) == 0 && o.Run != "" { // no rows, or no such run
		var list []runner.RunRow
		list, err = r.RunList(ctx, true, true, 0)
		if err == nil && !slices.ContainsFunc(list, func(x runner.RunRow) bool { return o.ofRun(x.Run, "") }) {
			_, err = r.RunNamed(ctx, o.Run)
		}
	}
	out := make([]*ojson.Object, len(lines))
	for i := range lines {
		out[i] = lines[i].Row
	}
	return out, err
}

// rowTable is a table of ledger rows. With rows of many runs, the first column names the run: numbers and ids begin anew
// in each.
type rowTable struct {
	term.Table
	runs bool
}

// tableOf returns a table whose last column takes the room that is left.
func tableOf(runs bool, header ...string) *rowTable {
	if runs {
		header = slices.Insert(header, 0, "RUN")
	}
	return &rowTable{term.Table{Header: header, Flex: len(header) - 1}, runs}
}

func (t *rowTable) add(run string, cells ...string) {
	if t.runs {
		cells = slices.Insert(cells, 0, run)
	}
	t.Row(cells...)
}

func NewHistoryCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "history", Category: shared.CategoryLook, Usage: "list the accepted turns", Flags: listFlags(),
		Action: func(c *ucli.Context) error {
			o, err := listFrom(c)
			if err != nil {
				return err
			}
			return runHistory(c.Context, f, o)
		},
	}
}

func runHistory(ctx context.Context, f *term.Factory, o listOptions) error {
	rows, err := readRows(ctx, f, wire.LedgerHistory, o, nil)
	if err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("turns", rows), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println(shared.Nothing(o.filtered(), "No turn has been accepted yet.", "No accepted turn matches."))
			return
		}
		t := tableOf(o.All, "#", "TURN", "ROLE", "PHASE", "STATUS", "WHEN", "SUMMARY")
		for _, r := range rows {
			n := ""
			if seq, ok := r.Int("accepted_sequence"); ok {
				n = strconv.Itoa(seq)
			}
			t.add(r.String("run_id"), n, r.String("turn_id"), r.String("role"), r.String("phase"), r.String("status"),
				shared.Ago(p, r.String("accepted_at")), r.String("summary"))
		}
		p.Table(&t.Table)
	})
	return nil
}

func NewDecisionsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "decisions", Category: shared.CategoryLook, Usage: "list the decisions of turns and people", Flags: append(listFlags(),
			&ucli.BoolFlag{Name: "governance", Usage: "also approvals, gate failures, conflicts and escalations"},
			&ucli.BoolFlag{Name: "repo", Usage: "only the decisions that outlive their run"}),
		Action: func(c *ucli.Context) error {
			o, err := listFrom(c)
			if err != nil {
				return err
			}
			return runDecisions(c.Context, f, o, c.Bool("governance"), c.Bool("repo"))
		},
	}
}

func runDecisions(ctx context.Context, f *term.Factory, o listOptions, governance, repo bool) error {
	read := wire.LedgerDecisions
	if repo {
		read, o.All = wire.LedgerRepoDecisions, true
	}
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return err
	}
	rows, err := rowsOf(ctx, r, v, read, o, func(row *ojson.Object) bool {
		return governance || ledger.ValidDecisionID(row.String("id"))
	})
	if err != nil {
		return err
	}
	if !repo {
		if err := markOverridden(ctx, r, v, rows); err != nil {
			return err
		}
	}
	runOf := func(*ojson.Object) string { return "" } // a list of one run names none
	if o.All {
		runs := newRunFinder(ctx, r, v, read)
		names := make(map[*ojson.Object]string, len(rows))
		for _, row := range rows {
			names[row] = runs.of(row)
		}
		if err := runs.close(); err != nil {
			return err
		}
		runOf = func(row *ojson.Object) string { return names[row] }
	}
	f.Out.Emit(ojson.NewObject("decisions", rows), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println(shared.Nothing(o.filtered() || repo, "No decision has been recorded yet.",
				"No decision matches."))
			return
		}
		t := tableOf(o.All, "ID", "KIND", "ROLE", "PHASE", "STATUS", "STATEMENT")
		for _, r := range rows {
			id, kind, text := r.String("id"), r.String("category"), r.String("statement")
			if kind == "" {
				kind = r.String("type") + r.String("decision")
				text = governanceText(r)
			}
			if why := r.String("rationale"); why != "" {
				text += " — " + why
			}
			status := r.String("status")
			if by := r.String("overridden_by"); by != "" {
				status = "overridden by " + by
			}
			t.add(runOf(r), id, kind, r.String("role"), r.String("phase"), status, text)
		}
		p.Table(&t.Table)
	})
	return nil
}

// markOverridden adds to a run's decisions what the ledger of the lasting decisions says: a row of
// the run's own is never changed.
func markOverridden(ctx context.Context, r *runner.Runner, v *runner.View, rows []*ojson.Object) error {
	type key struct{ id, turn string }
	by := map[key]string{}
	later, err := rowsOf(ctx, r, v, wire.LedgerRepoDecisions, listOptions{All: true}, func(row *ojson.Object) bool {
		return row.String("overridden_by") != ""
	})
	if err != nil {
		return err
	}
	for _, row := range later {
		by[key{row.String("id"), row.String("turn_id")}] = row.String("overridden_by")
	}
	for i, row := range rows {
		if who := by[key{row.String("id"), row.String("turn_id")}]; who != "" {
			rows[i] = row.Clone()
			rows[i].Set("status", "overridden")
			rows[i].Set("overridden_by", who)
		}
	}
	return nil
}

// governanceText returns a governance row in one line.
func governanceText(r *ojson.Object) string {
	var parts []string
	for _, k := range []string{"gate_id", "reason", "blocked_on", "command", "turn_id"} {
		if v := r.String(k); v != "" {
			parts = append(parts, v)
		}
	}
	if by := r.Object("approved_by"); by != nil {
		parts = append(parts, "by "+by.String("name"))
	}
	parts = append(parts, r.Strings("reasons")...)
	return strings.Join(parts, "; ")
}

type eventsOptions struct {
	listOptions
	Types  []string
	Since  time.Time // zero for all
	Follow bool
}

func NewEventsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "events", Category: shared.CategoryLook, Usage: "show the event log, live with --follow",
		Flags: append(listFlags()[:3:3],
			&ucli.StringSliceFlag{Name: "type", Usage: "only events of this `TYPE` (repeatable)"},
			&ucli.StringFlag{
				Name:  "since",
				Usage: "only events after this `TIME` (RFC 3339), or of the last 90s, 20m, 12h",
			},
			&ucli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "wait for more events; ^C ends it"}),
		Action: func(c *ucli.Context) error {
			o, err := listFrom(c)
			if err != nil {
				return err
			}
			e := &eventsOptions{listOptions: o, Types: c.StringSlice("type"), Follow: c.Bool("follow")}
			for _, t := range e.Types {
				if types := append(run.EventTypes(), run.OwnEventTypes()...); !slices.Contains(types, t) {
					hint := ""
					if near := term.Nearest(t, types); near != "" {
						hint = "; did you mean " + near + "?"
					}
					return term.UsageErrorf("there is no event type %q%s", term.OneLine(t), hint)
				}
			}
			if text := c.String("since"); text != "" {
				if e.Since, err = wire.ParseTime(text); err != nil {
					ago, err := time.ParseDuration(text)
					if err != nil || ago < 0 {
						return term.UsageErrorf("--since takes an RFC 3339 time or a duration such as 20m, not %q",
							term.OneLine(text))
					}
					e.Since = f.Now().Add(-ago)
				}
			}
			return runEvents(c.Context, f, e)
		},
	}
}

func (o *eventsOptions) wants(row *ojson.Object) bool {
	if len(o.Types) > 0 && !slices.Contains(o.Types, row.String("event_type")) {
		return false
	}
	if o.Since.IsZero() {
		return true
	}
	at, err := wire.ParseTime(row.String("timestamp"))
	return err == nil && at.After(o.Since)
}

func runEvents(ctx context.Context, f *term.Factory, o *eventsOptions) error {
	if !o.Follow {
		rows, err := readRows(ctx, f, wire.LedgerEvents, o.listOptions, o.wants)
		if err != nil {
			return err
		}
		f.Out.Emit(ojson.NewObject("events", rows), func(p *term.Printer) {
			if len(rows) == 0 {
				p.Println(shared.Nothing(o.filtered() || !o.Since.IsZero() || len(o.Types) > 0,
					"No event has been recorded yet.", "No event matches."))
			}
			days := slices.ContainsFunc(rows, func(r *ojson.Object) bool { return !isToday(r, f.Now()) })
			for _, r := range rows {
				printEvent(p, r, days, o.All)
			}
		})
		return nil
	}
	return followEvents(ctx, f, o)
}

// PollInterval is how often --follow looks for more.
const PollInterval = 200 * time.Millisecond

// followEvents prints the existing events and then new ones. The ledger only grows, so it continues
// to read where the last whole line ended.
func followEvents(ctx context.Context, f *term.Factory, o *eventsOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	emit := func(row *ojson.Object) error {
		if f.JSON() {
			return f.Out.Stream(row)
		}
		printEvent(f.Out.Printer(), row, !isToday(row, f.Now()), o.All)
		return f.Out.Flush()
	}
	path := filepath.Join(r.Record().Dir(), filepath.FromSlash(wire.LedgerEvents.Path()))
	offset, backlog := int64(0), []*ojson.Object{}
	first := true
	for {
		rows, next, err := readEvents(path, offset)
		if err != nil {
			return err
		}
		offset = next
		for _, row := range rows {
			if !o.wants(row) {
				continue
			}
			if first {
				backlog = append(backlog, row)
				continue
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		if first {
			first = false
			if n := len(backlog) - o.Limit; o.Limit > 0 && n > 0 {
				backlog = backlog[n:]
			}
			for _, row := range backlog {
				if err := emit(row); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(PollInterval):
		}
	}
}

// readEvents returns the whole lines after offset and where the next read begins. A file that
// became shorter was rewritten and is read again from the start.
func readEvents(path string, offset int64) ([]*ojson.Object, int64, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, offset, term.Errorf("unreadable_file", "the event log cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() < offset {
		offset = 0
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	var rows []*ojson.Object
	in := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return rows, offset, nil // a line without its end is still being written
		}
		offset += int64(len(line))
		if row, err := run.DecodeLedgerLine(line[:len(line)-1]); err == nil {
			rows = append(rows, row)
		}
	}
}

// printEvent prints a line for an event: with its day, with its run where asked.
func printEvent(p *term.Printer, r *ojson.Object, day, run bool) {
	at := r.String("timestamp")
	if t, err := wire.ParseTime(at); err == nil {
		layout := time.TimeOnly
		if day {
			layout = time.DateTime
		}
		at = t.Local().Format(layout)
	}
	who := ""
	if run {
		who = r.String("run_id") + " "
	}
	if turn := r.Object("turn"); turn != nil {
		who += turn.String("role_id") + " " + turn.String("turn_id")
	}
	p.Printf("%s  %s  %s  %s\n", p.Dim(at), p.Bold(term.Pad(term.OneLine(r.String("event_type")), 26)), term.Pad(
		term.OneLine(r.String("phase")), 14), term.OneLine(strings.TrimSpace(who+"  "+eventText(r.Object("payload")))))
}

// isToday reports whether an event is of the day of now.
func isToday(r *ojson.Object, now time.Time) bool {
	at, err := wire.ParseTime(r.String("timestamp"))
	return err == nil && at.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly)
}

// eventText returns the informative part of a payload.
func eventText(o *ojson.Object) string {
	var parts []string
	for _, k := range []string{"from", "to", "gate_id", "category", "blocked_on", "reason", "error_code", "detail",
		"checkpoint_sha"} {
		if v := o.String(k); v != "" {
			parts = append(parts, k+"="+v)
		}
	}
	if rs := o.Strings("reasons"); len(rs) > 0 {
		parts = append(parts, strings.Join(rs, "; "))
	}
	return strings.Join(parts, " ")
}
