package dashboard

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// atGate makes a project whose gate waits for a person with a key that the project knows.
func atGate(t *testing.T) (dir string) {
	t.Helper()
	return atGateOf(t, `{"principals":["ann@example.org"],"threshold":1}`)
}

// atGateOf makes a project like atGate, with the rule for whose approval counts.
func atGateOf(t *testing.T, people string) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen signs")
	}
	dir = testrepo.New(t, testrepo.Options{}).Dir
	key := filepath.Join(t.TempDir(), "key")
	execute(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ann", "-f", key)
	execute(t, dir, "git", "config", "gpg.format", "ssh")
	execute(t, dir, "git", "config", "user.signingKey", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, ".agentxchain/allowed_signers", "ann@example.org "+string(public))
	writeFile(t, dir, "agentxchain.json",
		`{"schema_version":"1.0","template":"generic","project":{"id":"p","name":"P"},
 "roles":{"dev":{"title":"Dev","mandate":"builds","write_authority":"authoritative","runtime":"manual"}},
 "runtimes":{"manual":{"type":"manual"}},
 "routing":{"plan":{"entry_role":"dev","allowed_next_roles":["dev","human"],"exit_gate":"signoff"},"ship":{"entry_role":"dev","allowed_next_roles":["dev","human"]}},
 "gates":{"signoff":{"requires_files":["PLAN.md"],"requires_human_approval":true}},
 "authority":{"approvers":{"people":`+people+`},"gates":{"signoff":{"by":"people","signed":true}}}}`)
	execute(t, dir, "git", "add", "-A")
	execute(t, dir, "git", "commit", "-q", "-m", "project")
	with(t, dir, func(r *runner.Runner) {
		a, err := r.AssignTurn(t.Context(), runner.AssignOptions{Role: "dev"})
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, "PLAN.md", "# Plan\n\nGreet <people>.\n")
		doc := a.Template.Clone()
		for k, v := range ojson.NewObject("summary", "Planned.", "decisions", []any{},
			"phase_transition_request", "ship",
			"objections", []any{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement", "Greets nobody.")},
			"verification", ojson.NewObject("status", "skipped", "evidence_summary", "A plan has no test."),
			"files_changed", []string{"PLAN.md"}, "proposed_next_role", "human").All() {
			doc.Set(k, v)
		}
		writeFile(t, dir, wire.StagingPath(a.Turn.TurnID), string(ojson.Pretty(doc)))
		if _, err := r.AcceptTurn(t.Context(), runner.AcceptOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	return dir
}

func with(t *testing.T, dir string, do func(*runner.Runner)) {
	t.Helper()
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	do(r)
}

func execute(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

func standsAt(t *testing.T, dir string) (s wire.Status, phase string) {
	t.Helper()
	with(t, dir, func(r *runner.Runner) {
		w, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s, phase = w.State.Status, w.State.Phase
	})
	return s, phase
}

// answer sends the form as a browser does, with header overriding headers: name, value.
func (v *served) answer(form url.Values, header ...string) (int, string) {
	v.t.Helper()
	path := approvePath
	req, err := http.NewRequestWithContext(v.t.Context(), "POST", v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", v.base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Accept", "text/html")
	req.AddCookie(&http.Cookie{Name: v.s.cookie(), Value: v.s.Token()})
	for i := 0; i+1 < len(header); i += 2 {
		switch header[i] {
		case "Host":
			req.Host = header[i+1]
		case "path":
			req.URL.Path, req.URL.RawQuery, _ = strings.Cut(header[i+1], "?")
		default:
			req.Header.Set(header[i], header[i+1])
		}
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var lookField = regexp.MustCompile(`name="look" value="([0-9a-f]{48})"`)

// look opens the page and returns the form as a person fills it in.
func (v *served) look() url.Values {
	v.t.Helper()
	page := v.page(approvePath)
	m := lookField.FindStringSubmatch(page)
	if m == nil {
		v.t.Fatalf("the page has no form:\n%s", mainOf(page))
	}
	return url.Values{"look": {m[1]}, "gate": {"signoff"}, "reason": {"It greets."}}
}

// TestApproveFromThePage approves what was shown, once, signed, and for our own page only.
func TestApproveFromThePage(t *testing.T) {
	dir := atGate(t)
	v := serve(t, Options{Dir: dir, AllowApprove: true})
	page := v.page(approvePath)
	for _, want := range []string{"Gate signoff: from plan to ship.", "the gate passes on the current files", "PLAN.md",
		"Greet &lt;people&gt;", "Greets nobody.",
		"Approve and sign", "class=\"diff\"", "Open objections"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, mainOf(page))
		}
	}
	if strings.Contains(page, "live.js") || strings.Contains(page, "refresh") {
		t.Error("the page reloads under a person's hands")
	}
	if !strings.Contains(v.page("/"), `href="/approve"`) {
		t.Error("the overview does not lead to the answer")
	}
	// A request that another site, another program or a link can send is not an answer.
	for _, bad := range []struct {
		header []string
		code   int
	}{
		{[]string{"Origin", ""}, 405},
		{[]string{"Origin", "null"}, 405},
		{[]string{"Origin", "http://evil.example"}, 405},
		{[]string{"Origin", "http://evil.example", "Host", "evil.example:" + strings.Split(v.base, ":")[2]}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 405},
		{[]string{"Sec-Fetch-Site", "same-site"}, 405},
		{[]string{"Content-Type", "text/plain"}, 405},
		{[]string{"Content-Type", "application/json"}, 405},
		{[]string{"Cookie", ""}, 403},
		{[]string{"Cookie", v.s.cookie() + "=0000"}, 403},
		{[]string{tokenHeader, v.s.Token()}, 405},
		{[]string{"path", "/approve?look=1"}, 405},
		{[]string{"path", "/turns"}, 405},
	} {
		if code, body := v.answer(v.look(), bad.header...); code != bad.code {
			t.Errorf("%q: %d instead of %d: %.200s", bad.header, code, bad.code, body)
		}
	}
	refused := func(what string, form url.Values, code int, want string) {
		t.Helper()
		got, body := v.answer(form)
		if got != code || !strings.Contains(body, want) || !strings.Contains(body, "Nothing was decided") {
			t.Errorf("%s: %d:\n%s", what, got, mainOf(body))
		}
	}
	form := v.look()
	form.Set("gate", "ship")
	refused("another name", form, 200, "was not typed as it is")
	form.Set("gate", "signoff")
	refused("a second answer to one look", form, 200, "answered already")
	refused("no look", url.Values{"gate": {"signoff"}}, 200, "answered already")
	refused("too much", url.Values{"reason": {strings.Repeat("x", 100<<10)}}, 200, "could not be read")
	form = v.look()
	plan := filepath.Join(dir, "PLAN.md")
	before, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "PLAN.md", string(before)+"\nSomething else.\n")
	refused("a document that changed since", form, 409, "PLAN.md has changed")
	writeFile(t, dir, "PLAN.md", string(before))
	execute(t, dir, "git", "config", "gpg.format", "openpgp")
	execute(t, dir, "git", "config", "gpg.program", "false")
	refused("a signature that fails", v.look(), 409, "signing_failed")
	execute(t, dir, "git", "config", "gpg.format", "ssh")
	if s, _ := standsAt(t, dir); s != wire.StatusPaused {
		t.Fatalf("after all these the run is %s", s)
	}

	other := v.look() // the same page, open beside this one
	code, body := v.answer(v.look())
	if code != 200 || !strings.Contains(body, "Gate signoff is approved.") || !strings.Contains(body, "SHA256:") {
		t.Fatalf("%d:\n%s", code, mainOf(body))
	}
	if !strings.Contains(mainOf(body), "ann@example.org") {
		t.Errorf("who approved is not said:\n%s", mainOf(body))
	}
	if code, body := v.answer(other); code != 409 || strings.Contains(body, "waits as before") {
		t.Errorf("once it is approved: %d:\n%s", code, mainOf(body))
	}
	if s, phase := standsAt(t, dir); s != wire.StatusActive || phase != "ship" {
		t.Errorf("the run is %s in phase %s", s, phase)
	}
	with(t, dir, func(r *runner.Runner) {
		report, err := r.Record().Fsck(t.Context(), runner.FsckOptions{Replay: true})
		if err != nil || !report.Clean() {
			t.Errorf("%+v %v", report, err)
		}
	})
	row, err := os.ReadFile(filepath.Join(dir, ".agentxchain", "decision-ledger.jsonl"))
	if err != nil || !strings.Contains(string(row), `"reason":"It greets."`) ||
		!strings.Contains(string(row), `"terminal":false`) {
		t.Errorf("%v\n%s", err, row)
	}
	if page := v.page(approvePath); !strings.Contains(page, "No gate waits for a person.") {
		t.Errorf("afterwards:\n%s", mainOf(page))
	}
}

// TestGateTellsWhoseYesCounts: a yes that was given for another commit no longer counts.
func TestGateTellsWhoseYesCounts(t *testing.T) {
	dir := atGateOf(t, `{"principals":["ann@example.org","bob@example.org"],"threshold":2}`)
	with(t, dir, func(r *runner.Runner) {
		if _, err := r.Approve(t.Context(), runner.ApproveOptions{Consent: runner.ConsentOptions{Sign: true}}); err != nil {
			t.Fatal(err)
		}
	})
	const counts, lapsed = "approved by ann@example.org", "ann@example.org: what they approved has changed since"
	if body := mainOf(serve(t, Options{Dir: dir}).page("/gates/signoff")); !strings.Contains(body, counts) ||
		strings.Contains(body, lapsed) {
		t.Errorf("given: expected %q in\n%s", counts, body)
	}
	execute(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "another commit")
	if body := mainOf(serve(t, Options{Dir: dir}).page("/gates/signoff")); strings.Contains(body, counts) ||
		!strings.Contains(body, lapsed) {
		t.Errorf("no longer: expected %q in\n%s", lapsed, body)
	}
}

// TestApproveIsOff by default, in a replay, and for an agent that starts the dashboard itself.
func TestApproveIsOff(t *testing.T) {
	dir := atGate(t)
	v := serve(t, Options{Dir: dir})
	if code, _, body := v.fetch("GET", approvePath, "Accept", "text/html"); code != 404 ||
		!strings.Contains(body, "--allow-approve") {
		t.Errorf("%d: %s", code, mainOf(body))
	}
	if code, _ := v.answer(url.Values{"gate": {"signoff"}}); code != 405 {
		t.Errorf("status %d", code)
	}
	if strings.Contains(v.page("/"), `href="/approve"`) {
		t.Error("the overview leads to what is off")
	}
	v.stop()
	inside := serve(t, Options{Dir: dir, AllowApprove: true, Runner: runner.Options{Getenv: func(k string) string {
		if k == "AGENTXCHAIN_TURN_ID" {
			return "turn_0123456789abcdef"
		}
		return os.Getenv(k)
	}}})
	if code, _, body := inside.fetch("GET", approvePath, "Accept", "text/html"); code == 200 ||
		!strings.Contains(body, "an agent does not approve") {
		t.Errorf("inside a turn: %d\n%s", code, mainOf(body))
	}
	if s, _ := standsAt(t, dir); s != wire.StatusPaused {
		t.Errorf("the run is %s", s)
	}
}

// TestBrowserApproves fills in the form as a person does, in a real browser.
func TestBrowserApproves(t *testing.T) {
	ctx := browser(t)
	dir := atGate(t)
	v := serve(t, Options{Dir: dir, AllowApprove: true})
	heard := overhear(ctx, t, v.base)
	v.enter(ctx, t)
	open(ctx, t, v.base+"/")
	click(ctx, t, `a[href="/approve"]`)
	shows(ctx, t, "Approve and sign")
	click(ctx, t, `input[name="gate"]`)
	press(ctx, t, "signoff")
	click(ctx, t, `form.ask button`)
	shows(ctx, t, "Gate signoff is approved.")
	if c := heard.take(); len(c) > 0 {
		t.Errorf("the browser objects: %q", c)
	}
	if s, phase := standsAt(t, dir); s != wire.StatusActive || phase != "ship" {
		t.Errorf("the run is %s in phase %s", s, phase)
	}
}
