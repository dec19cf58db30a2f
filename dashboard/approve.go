// Approving from the page (docs/dashboard.md#approve-from-the-page): off unless the dashboard was started for it, one
// answer to one look, always signed by the person's own key, which never comes near the page.

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

const approvePath = "/approve"

// Bounds of an answer.
const (
	answerLife  = 10 * time.Minute // of a look: what was shown longer ago is shown again
	maxAnswer   = 64 << 10         // bytes of a form
	maxLooks    = 32               // that wait for an answer; the oldest is forgotten
	signingWait = 2 * time.Minute  // for a passphrase or a touch
)

// looks holds what was shown and not yet answered.
type looks struct {
	mu   sync.Mutex
	open map[string]look
}

// look is a gate as a person saw it.
type look struct {
	gate  *gate.Pending
	until time.Time
}

func (l *looks) keep(g *gate.Pending, now time.Time) string {
	id := newToken()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(map[string]look)
	}
	oldest := ""
	for k, x := range l.open {
		if oldest == "" || x.until.Before(l.open[oldest].until) {
			oldest = k
		}
	}
	if len(l.open) >= maxLooks {
		delete(l.open, oldest)
	}
	l.open[id] = look{g, now.Add(answerLife)}
	return id
}

// take returns what was shown, once; nil when it was already answered or is too old.
func (l *looks) take(id string, now time.Time) *gate.Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.open[id]
	delete(l.open, id)
	if !ok || now.After(x.until) {
		return nil
	}
	return x.gate
}

// answerAllowed accepts the form of our own page and nothing that another site, a link or a program
// without the session's cookie can send.
func (s *Server) answerAllowed(r *http.Request) bool {
	if !s.opt.AllowApprove || r.URL.Path != approvePath || r.URL.RawQuery != "" ||
		r.Header.Get("Origin") != "http://"+r.Host || r.Header.Get(tokenHeader) != "" {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "application/x-www-form-urlencoded"
}

// approve shows the waiting gate and takes the answer.
func (s *Server) approve(w http.ResponseWriter, r *http.Request) {
	// With no-referrer a browser hides the origin of a form, and the answer would be refused.
	w.Header().Set("Referrer-Policy", "same-origin")
	w.Header().Set("Cache-Control", "no-store")
	s.page(w, r, func(v *view) error {
		v.Live = false // nothing reloads while a person fills in the form
		v.Title = "Approve"
		if !s.opt.AllowApprove || s.opt.Replay != nil {
			return errMissing{"This dashboard only shows. Gates are approved with git agentxchain approve, " +
				"or here when it was started with --allow-approve."}
		}
		run, err := runner.Open(r.Context(), s.Dir(), s.opt.Runner)
		if err != nil {
			return err
		}
		defer func() { _ = run.Close() }()
		if turn := run.InsideTurn(); turn != "" {
			return &wire.Error{
				Code:    wire.CodeInsideTurn,
				Message: "This dashboard was started from inside turn " + turn + "; an agent does not approve.",
				Hint:    "a person approves: git agentxchain approve",
			}
		}
		if r.Method == http.MethodPost {
			return v.answered(w, run)
		}
		return v.askApproval(r.Context(), run, "")
	})
}

// askApproval shows what the answer is about, with the form.
func (v *view) askApproval(ctx context.Context, run *runner.Runner, problem string) error {
	g, err := run.PendingGate(ctx)
	if err != nil {
		if c := protocolError(err); c != nil && c.code == wire.CodeNothingPending {
			v.Lead = "No gate waits for a person."
			v.Blocks = []block{{ID: "back", All: cell{Text: "Overview", Href: "/"}}}
			return nil
		}
		return err
	}
	if problem != "" {
		v.Notices = append(v.Notices, toned(problem, bad))
	}
	v.Title = "Approve " + plain(g.Gate)
	to := "the run completes"
	if g.To != "" {
		to = "from " + g.From + " to " + g.To
	}
	v.Lead = "Gate " + plain(g.Gate) + ": " + plain(to) + "."
	v.Blocks = append(v.Blocks, v.pendingFacts(g), gateDocuments(g), openObjections(g), gateDiff(g), block{
		ID: "answer", Title: "Your answer",
		Note: "Your signing key signs the approval, as git agentxchain approve --sign does: where it asks for a passphrase or a touch, " +
			"it asks at the terminal of the dashboard. To refuse: git agentxchain approve --deny --reason TEXT",
		Ask: &answerForm{Action: approvePath, Look: v.srv.looks.keep(g, time.Now()), Gate: plain(g.Gate)},
	})
	return nil
}

func (v *view) pendingFacts(g *gate.Pending) block {
	b := block{ID: "gate", Title: "What is asked", Facts: []fact{
		{"Asked by", turnLink(g.RequestedBy)},
		{"Role", text(g.Role)},
		{"Asked", v.moment(g.RequestedAt)},
		{"Its words", text(g.Summary)},
		{"Verification", text(cmp.Or(g.Verification, "none is reported"))},
		{"Decided by", text(approvers(g.Rule))},
		{"Yes", text(g.Yes)},
	}}
	holds := toned("the gate passes on the current files", good)
	if g.Result.Action == gates.ActionGateFailed {
		holds = toned("the gate does not pass on the current files", bad)
	}
	b.Facts = append(b.Facts, fact{"Evidence", holds})
	for _, reason := range g.Result.Reasons {
		b.Facts = append(b.Facts, fact{"Because", text(reason)})
	}
	if g.BlockedOn != "" {
		b.Facts = append(b.Facts, fact{"Blocked on", toned(g.BlockedOn, bad)})
	}
	for _, a := range g.Actions {
		b.Facts = append(b.Facts, fact{"Runs", code(a.Run)})
	}
	for _, vote := range g.Approvals {
		b.Facts = append(b.Facts, fact{"Approved by", text(vote.Who())})
	}
	for _, l := range g.Lapsed {
		b.Facts = append(b.Facts, fact{"No longer", toned(l.Why.Message, warn)})
	}
	return b
}

func gateDocuments(g *gate.Pending) block {
	b := block{ID: "documents", Title: "Documents", Empty: "The gate looks at no document."}
	t := &table{Head: []string{"Document", "Now", "SHA-256", "Since the phase", "Since the run"}}
	changed := func(is bool) cell {
		if is {
			return toned("changed", warn)
		}
		return text("same")
	}
	for i, d := range g.Documents {
		if i == pageSize {
			b.Note = fmt.Sprintf("The first %d of %d.", i, len(g.Documents))
			break
		}
		now := text(counted(d.Size, "byte", "bytes"))
		if !d.Present {
			now = toned("missing", bad)
		}
		t.Rows = append(t.Rows, []cell{code(d.Path), now, code(cut(d.SHA256, 12)), changed(d.SincePhase),
			changed(d.SinceRun)})
	}
	return b.filled(t)
}

func openObjections(g *gate.Pending) block {
	b := block{ID: "open-objections", Title: "Open objections", Empty: "None."}
	t := &table{Head: []string{"Objection", "Role", "Severity", "Statement"}}
	for i, o := range g.Objections {
		if i == pageSize {
			b.Note = fmt.Sprintf("The first %d of %d.", i, len(g.Objections))
			break
		}
		t.Rows = append(t.Rows, []cell{code(o.String("id")), text(o.String("role")), text(o.String("severity")),
			text(o.String("statement"))})
	}
	return b.filled(t)
}

func gateDiff(g *gate.Pending) block {
	b := block{
		ID:    "documents-diff",
		Title: "How the documents have changed",
		Empty: "They have not changed since the run began.",
	}
	if g.Since.What == "approval" {
		b.Empty = "They have not changed since the last approval."
	}
	if g.Diff == "" {
		return b
	}
	var cutOff bool
	b.Empty = ""
	if b.Diff, cutOff = diffLines(g.Diff); cutOff || g.Cut != "" {
		b.Note = cmp.Or(plain(g.Cut), "It goes on.") + " The whole of it: git agentxchain approve --show"
	}
	return b
}

// answered handles the form: it approves what was shown, and nothing else.
func (v *view) answered(w http.ResponseWriter, run *runner.Runner) error {
	r := v.r
	r.Body = http.MaxBytesReader(w, r.Body, maxAnswer)
	if err := r.ParseForm(); err != nil {
		return v.askApproval(r.Context(), run, "The answer could not be read: "+err.Error()+". Nothing was decided.")
	}
	g := v.srv.looks.take(r.PostForm.Get("look"), time.Now())
	switch {
	case g == nil:
		return v.askApproval(r.Context(), run,
			"This page was answered already, or shown too long ago. Nothing was decided; look again.")
	case strings.TrimSpace(r.PostForm.Get("gate")) != g.Gate:
		return v.askApproval(r.Context(), run, "The name of the gate was not typed as it is. Nothing was decided.")
	}
	ctx, cancel := context.WithTimeout(r.Context(), signingWait)
	defer cancel()
	out, err := run.Approve(ctx, runner.ApproveOptions{
		Reason:  strings.TrimSpace(r.PostForm.Get("reason")),
		Consent: runner.ConsentOptions{Sign: true, Asked: attest.AskedPage},
		Shown:   g,
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return v.askApproval(r.Context(), run, "The signature took too long. Nothing was decided.")
		}
		v.Title, v.Lead = "Nothing was decided", "Your answer was not recorded."
		v.Blocks = []block{errorBlock(err), {ID: "again", All: cell{Text: "Look again", Href: approvePath}}}
		return errRefused
	}
	v.Title = "Approved"
	v.Lead = "Gate " + plain(out.Result.Gate) + " is approved."
	if !out.Result.Passed {
		v.Lead = fmt.Sprintf("Your approval of gate %s is recorded; it waits for %d more.", plain(out.Result.Gate),
			out.Result.Needed-len(out.Result.Votes))
	}
	b := block{ID: "approved", Title: "What was recorded", All: cell{Text: "Overview", Href: "/"}}
	for _, vote := range out.Result.Votes {
		b.Facts = append(b.Facts, fact{"Approved by", text(vote.Who())}, fact{"Statement", code(vote.Statement)},
			fact{"Key", code(vote.KeyID)})
	}
	for _, path := range out.Signed {
		b.Facts = append(b.Facts, fact{"Signed", code(path)})
	}
	if out.Commit != "" {
		b.Facts = append(b.Facts, fact{"Commit", code(short(out.Commit))})
	}
	v.Blocks = []block{b}
	return nil
}

// errRefused renders the page as it is, with the status of a conflict.
var errRefused = errors.New("nothing was decided")

// answerForm is the form of an answer.
type answerForm struct {
	Action, Look, Gate string
}
