// Tests of who approved a gate: what counts when it is given, and what a forged history proves.

package initiative

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// signer is a person with a key.
type signer struct {
	email string
	key   ssh.Signer
}

func newSigner(t *testing.T, email string) signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer{email, key}
}

// says signs a statement as ssh-keygen does.
func (s signer) says(t *testing.T, st attest.Statement) *evidence.Blob {
	t.Helper()
	st.Principal = s.email
	payload, refusal := st.Encode()
	if refusal != nil {
		t.Fatal(refusal)
	}
	sum := sha512.Sum512(attest.PAE(attest.PayloadType, payload))
	head := struct{ Namespace, Reserved, Hash, Digest string }{attest.Namespace, "", "sha512", string(sum[:])}
	sig, err := s.key.Sign(rand.Reader, append([]byte("SSHSIG"), ssh.Marshal(head)...))
	if err != nil {
		t.Fatal(err)
	}
	blob := append([]byte("SSHSIG"), ssh.Marshal(struct {
		Version                           uint32
		Public, Namespace, Reserved, Hash string
		Signature                         string
	}{1, string(s.key.PublicKey().Marshal()), attest.Namespace, "", "sha512", string(ssh.Marshal(sig))})...)
	env := attest.Envelope{
		Payload:   payload,
		Format:    attest.FormatSSH,
		Signature: pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob}),
	}
	return evidence.NewBlob(env.EncodeDSSE())
}

// atGate is an initiative that waits at its first gate, which needs two signatures.
type atGate struct {
	w        *Workspace
	asked    *State // when the gate began to wait
	a        *actors
	ada, bob signer
	yes      Yes
}

func newAtGate(t *testing.T) *atGate {
	return newAtGateOf(t, `"phase_transition": {"by": "leads", "signed": true}`)
}

// newAtGateOf is like newAtGate, with other gates in its authority.
func newAtGateOf(t *testing.T, gates string) *atGate {
	t.Helper()
	cfg := strings.Replace(goodConfig, `"project":`, `"authority": {
		"approvers": {"leads": {"principals": ["ada@example.org", "bob@example.org"], "threshold": 2}},
		"gates": {`+gates+`}}, "project":`, 1)
	w := world(t, cfg).after(designDone...)
	g := &atGate{w: w, a: newActors(t, w), ada: newSigner(t, "ada@example.org"), bob: newSigner(t, "bob@example.org")}
	c, e := Request(w, EvaluatePhase(w, g.a.read(), ""), env("s"))
	if e != nil {
		t.Fatal(e)
	}
	g.w = w.With(c)
	g.asked = g.w.State
	var signers string
	for _, s := range []signer{g.ada, g.bob} {
		signers += s.email + " " + string(ssh.MarshalAuthorizedKey(s.key.PublicKey()))
	}
	g.yes = Yes{
		Consent: agreement.Consent{
			Alone:   true,
			Answers: strings.Repeat("1", 40),
			Base: &agreement.Base{
				Commit:  strings.Repeat("b", 40),
				Signers: []evidence.FileBlob{{Path: attest.AllowedSignersPath, Blob: evidence.NewBlob([]byte(signers))}},
			},
		},
		Repositories: []attest.Repository{{ID: "api", Operation: strings.Repeat("a", 40)}},
		Rules:        RulesOf(g.w.State.Phase, g.w.State.PendingGate.To, g.w.Config),
		Digest:       g.w.Config.RulesDigest(),
	}
	return g
}

func (g *atGate) env() protocol.Env { return env("s") }

// statement returns what is signed at the gate.
func (g *atGate) statement(nonce int) attest.Statement {
	p, now := g.asked.PendingGate, g.env().Now
	return attest.Statement{
		Decision:     attest.Approve,
		Run:          g.w.State.SuperRunID,
		Project:      g.w.Config.ProjectID,
		Gate:         p.Gate,
		GateType:     p.GateType,
		Phase:        g.asked.Phase,
		To:           p.To,
		Operation:    g.yes.Consent.Answers,
		Config:       g.yes.Digest,
		Repositories: g.yes.Repositories,
		Nonce:        fmt.Sprintf("%032x", nonce),
		IssuedAt:     now,
		ExpiresAt:    now.Add(time.Hour),
		Asked:        attest.AskedTerminal,
	}
}

// approve hands in statements, and applies the resulting change.
func (g *atGate) approve(t *testing.T, statements ...*evidence.Blob) (*agreement.Tally, *wire.Error) {
	t.Helper()
	y := g.yes
	_, y.Votes, _ = g.passages(g.w.History.Rows())
	y.Consent.Statements = statements
	c, sum, refusal := Approve(g.w, g.a.read(), &y, g.env())
	if refusal == nil {
		g.w = g.w.With(c)
	}
	return sum, refusal
}

// judge judges the rows again.
func (g *atGate) judge(rows []*ojson.Object) []Passage {
	out, _, _ := g.passages(rows)
	return out
}

func (g *atGate) passages(rows []*ojson.Object) ([]Passage, []*run.Vote, string) {
	run := g.w.State.SuperRunID
	return NewHistory(rows, run).Passages(run, func(*Yes, Asking) (*Grounds, *wire.Error) {
		return &Grounds{Base: g.yes.Consent.Base, Configs: []*Config{g.w.Config, nil}}, nil
	})
}

func TestTwoPeoplePassAGate(t *testing.T) {
	g := newAtGate(t)
	gate := g.w.State.PendingGate.Gate
	if _, refusal := g.approve(t); refusal == nil || refusal.Code != agreement.CodeApproverNotAllowed {
		t.Errorf("without a statement: %v, want %s", refusal, agreement.CodeApproverNotAllowed)
	}
	adas := g.ada.says(t, g.statement(1))
	sum, refusal := g.approve(t, adas)
	if refusal != nil || sum.Reached() || len(g.w.State.PendingGate.Votes) != 1 || g.w.State.Status != StatusPaused {
		t.Fatalf("the first of two: %+v %v", sum, refusal)
	}
	if _, refusal := g.approve(t, adas); refusal == nil || refusal.Code != agreement.CodeAlreadyApproved {
		t.Errorf("a second time: %v, want %s", refusal, agreement.CodeAlreadyApproved)
	}
	if got := g.judge(g.w.History.Rows()); len(got) != 0 {
		t.Errorf("one of two is a passage: %+v", got)
	}
	if sum, refusal = g.approve(t, g.bob.says(t, g.statement(2))); refusal != nil || !sum.Reached() ||
		g.w.State.Phase != "make" {
		t.Fatalf("the second: %+v %v", sum, refusal)
	}
	got := g.judge(g.w.History.Rows())
	if len(got) != 1 || got[0].Refusal != nil || got[0].Gate != gate || len(got[0].Votes) != 2 || got[0].Need != 2 ||
		g.w.History.Passed() != 1 {
		t.Fatalf("judged again: %+v", got)
	}
}

// TestJoinedVotes joins what two people said about one gate, each on their own machine.
func TestJoinedVotes(t *testing.T) {
	g := newAtGate(t)
	asked := g.w
	elsewhere := func(change func(*atGate), who signer, nonce int) []*ojson.Object {
		t.Helper()
		there := *g
		there.w, there.yes.Repositories = asked, g.yes.Repositories
		if change != nil {
			change(&there)
		}
		if _, refusal := there.approve(t, who.says(t, there.statement(nonce))); refusal != nil {
			t.Fatal(refusal)
		}
		return there.w.History.Rows()[len(asked.History.Rows()):]
	}
	if _, refusal := g.approve(t, g.ada.says(t, g.statement(1))); refusal != nil {
		t.Fatal(refusal)
	}
	grounds := func(*Yes, Asking) (*Grounds, *wire.Error) {
		return &Grounds{Base: g.yes.Consent.Base, Configs: []*Config{g.w.Config, nil}}, nil
	}
	join := func(rows []*ojson.Object) *Joined {
		said, ok := SaidIn(rows, nil, asked.State, asked.State)
		if !ok {
			t.Fatal("a yes alone is not one of what people say")
		}
		return g.w.Join(said, grounds)
	}
	if y := join(elsewhere(nil, g.ada, 2)); y == nil || !y.Change.Empty() || len(y.Votes) > 0 || y.Over > 0 {
		t.Errorf("ada on her second machine: %+v; want nothing added", y)
	}
	moved := func(g *atGate) {
		g.yes.Repositories = []attest.Repository{{ID: "api", Operation: strings.Repeat("d", 40)}}
	}
	if y := join(elsewhere(moved, g.bob, 3)); y != nil {
		t.Errorf("bob, of a repository that stood elsewhere: %+v; want it refused", y)
	}
	// One of two passes nothing, even if the row claims that no more are needed.
	alone := g.yes
	_, alone.Votes, _ = g.passages(g.w.History.Rows())
	if _, _, refusal := Approve(g.w, g.a.read(), &alone, g.env()); refusal == nil {
		t.Error("one of two passed the gate")
	}
	y := join(elsewhere(nil, g.bob, 4))
	if y == nil || len(y.Votes) != 1 || y.Votes[0].Principal != g.bob.email ||
		len(y.Change.State.PendingGate.Votes) != 2 {
		t.Fatalf("bob: %+v", y)
	}
	g.w = g.w.With(y.Change)
	sum, refusal := g.approve(t)
	if refusal != nil || !sum.Reached() || g.w.State.Phase != "make" {
		t.Fatalf("with both: %+v %v", sum, refusal)
	}
	rows := g.w.History.Rows()
	if got := g.judge(rows); len(got) != 1 || got[0].Refusal != nil || len(got[0].Votes) != 2 {
		t.Fatalf("judged again: %+v", got)
	}
	last := len(rows) - 1
	if got := g.judge(append(rows[:last-1:last-1], rows[last])); len(got) != 1 || got[0].Refusal == nil {
		t.Errorf("without the yes of bob: %+v holds", got)
	}
	if y := join(elsewhere(nil, g.bob, 5)); y == nil || !y.Change.Empty() || y.Over != 1 {
		t.Errorf("once the gate was passed: %+v; want nothing", y)
	}
}

// TestJoinedDenial joins one machine's denial with what others did with the gate meanwhile.
func TestJoinedDenial(t *testing.T) {
	g := newAtGate(t)
	asked := g.w
	grounds := func(*Yes, Asking) (*Grounds, *wire.Error) {
		return &Grounds{Base: g.yes.Consent.Base, Configs: []*Config{g.w.Config, nil}}, nil
	}
	no, refusal := Deny(asked, "not yet", g.env())
	if refusal != nil {
		t.Fatal(refusal)
	}
	said, ok := SaidIn(no.History, no.Decisions, asked.State, no.State)
	if !ok || said.No == nil {
		t.Fatalf("a no alone: %+v %v", said, ok)
	}
	if _, ok := SaidIn(no.History, nil, asked.State, no.State); ok {
		t.Error("a no without its decision is one")
	}
	blocked := no.State.Clone()
	blocked.Status = StatusBlocked
	if _, ok := SaidIn(no.History, no.Decisions, asked.State, blocked); ok {
		t.Error("a no that led to a block is one")
	}
	apart := func(in string) {
		t.Helper()
		if y := g.w.Join(said, grounds); y != nil {
			t.Errorf("%s: %+v; want it refused", in, y)
		}
	}
	if _, refusal := g.approve(t, g.ada.says(t, g.statement(1))); refusal != nil {
		t.Fatal(refusal)
	}
	agreed := g.w
	y := g.w.Join(said, grounds)
	if y == nil || !y.Denied || y.Over != 0 || len(y.Change.History) != 1 || len(y.Change.Decisions) != 1 ||
		y.Change.State.PendingGate != nil || y.Change.State.Status != StatusActive {
		t.Fatalf("beside the yes of ada: %+v", y)
	}
	if id := y.Change.Decisions[0].String("id"); id != fmt.Sprintf("DEC-COORD-%03d", agreed.NextDecision) {
		t.Errorf("the decision is %s", id)
	}
	g.w = agreed.With(y.Change)
	if y := g.w.Join(said, grounds); y == nil || !y.Change.Empty() || y.Over != 1 {
		t.Errorf("where it was denied as well: %+v; want nothing", y)
	}
	g.w = agreed
	if _, refusal := g.approve(t, g.bob.says(t, g.statement(2))); refusal != nil || g.w.State.Phase != "make" {
		t.Fatal(refusal)
	}
	apart("where the gate was passed")
	g.w = agreed
	g.w.State = agreed.State.Clone()
	g.w.State.Status = StatusBlocked
	apart("where the initiative is blocked")
}

// TestSinceTravels: the next approval must not be judged by an older commit than an earlier one was.
func TestSinceTravels(t *testing.T) {
	g := newAtGate(t)
	if _, refusal := g.approve(t, g.ada.says(t, g.statement(1))); refusal != nil {
		t.Fatal(refusal)
	}
	if _, refusal := g.approve(t, g.bob.says(t, g.statement(2))); refusal != nil {
		t.Fatal(refusal)
	}
	var asked []string
	g.w.History.Passages(g.w.State.SuperRunID, func(y *Yes, a Asking) (*Grounds, *wire.Error) {
		asked = append(asked, a.Since)
		return &Grounds{Base: g.yes.Consent.Base, Since: "newer", Configs: []*Config{g.w.Config}}, nil
	})
	if want := []string{"", "newer"}; !slices.Equal(asked, want) {
		t.Errorf("asked since %q, want %q", asked, want)
	}
	// The same holds for the commit known at the request, unless the branch lacks it.
	rows := slices.Clone(g.w.History.Rows())
	i := slices.IndexFunc(rows, func(row *ojson.Object) bool { return row.String("type") == rowPhaseAsked })
	rows[i] = ojson.CloneValue(rows[i]).(*ojson.Object)
	(&Change{History: rows[:i+1]}).AskedBy(&agreement.Base{Ref: "main", Commit: "known"})
	for _, c := range []struct {
		refusal *wire.Error
		want    string
	}{{nil, "known"}, {&wire.Error{}, ""}} {
		asked = nil
		NewHistory(rows, g.w.State.SuperRunID).Passages(g.w.State.SuperRunID, func(y *Yes, a Asking) (*Grounds, *wire.Error) {
			if a.Request {
				return &Grounds{Since: y.Consent.Base.Commit}, c.refusal
			}
			asked = append(asked, a.Since)
			return &Grounds{Base: g.yes.Consent.Base, Configs: []*Config{g.w.Config}}, nil
		})
		if want := []string{c.want, c.want}; !slices.Equal(asked, want) {
			t.Errorf("asked since %q, want %q", asked, want)
		}
	}
}

// TestVotesOfAWeakerGate records votes for the end under the request of a gate that needs less: no name in them
// counts, with or without a signature.
func TestVotesOfAWeakerGate(t *testing.T) {
	weak := newAtGateOf(t, `"phase_transition": {"by": "leads"}, "initiative_ship": {"by": "leads", "signed": true}`)
	bob := weak.statement(1)
	bob.Gate, bob.GateType, bob.To = ShipGate, GateCompletion, ""
	now := weak.env()
	row := func(kind, gate, by string, statements ...*evidence.Blob) *ojson.Object {
		y := weak.yes
		y.Consent.Alone, y.Consent.Statements = len(statements) > 0 || by == "", statements
		return ojson.NewObject("type", kind, "timestamp", now.Time(), "super_run_id", weak.w.State.SuperRunID,
			"gate", gate, "approved_by", ojson.NewObject("name", by, "email", by), "approval", y.object(weak.asked.Phase,
				&agreement.Tally{}))
	}
	for name, forged := range map[string][]*ojson.Object{
		"a name, and one signature": {
			row(rowVote, ShipGate, "ada@example.org"),
			row(rowFinishApproved, ShipGate, "", weak.bob.says(t, bob)),
		},
		"two names": {
			row(rowVote, ShipGate, "ada@example.org"), row(rowVote, ShipGate, "bob@example.org"),
			row(rowFinishApproved, ShipGate, ""),
		},
	} {
		got := weak.judge(append(slices.Clip(weak.w.History.Rows()), forged...))
		if len(got) != 1 || got[0].Refusal == nil {
			t.Errorf("%s: %+v holds", name, got)
		}
	}
	// What the gate itself needs, two names, passes it.
	got := weak.judge(append(slices.Clip(weak.w.History.Rows()), row(rowVote, weak.asked.PendingGate.Gate, "ada@example.org"),
		row(rowVote, weak.asked.PendingGate.Gate, "bob@example.org"), func() *ojson.Object {
			passed := row(rowPhaseApproved, weak.asked.PendingGate.Gate, "")
			passed.Set("from", weak.asked.Phase)
			passed.Set("to", weak.asked.PendingGate.To)
			return passed
		}()))
	if len(got) != 1 || got[0].Refusal != nil {
		t.Errorf("two names at the gate that asks for them: %+v", got[0].Refusal)
	}
}

// TestForgedPassages forges what a history would have to say.
func TestForgedPassages(t *testing.T) {
	g := newAtGate(t)
	asked := g.w
	adas, bobs := g.ada.says(t, g.statement(1)), g.bob.says(t, g.statement(2))
	if _, refusal := g.approve(t, adas); refusal != nil {
		t.Fatal(refusal)
	}
	if _, refusal := g.approve(t, bobs); refusal != nil {
		t.Fatal(refusal)
	}
	whole := g.w.History.Rows()
	last := len(whole) - 1
	encode := func(b *evidence.Blob) []string {
		o := (&Yes{Consent: agreement.Consent{Statements: []*evidence.Blob{b}}}).object("", &agreement.Tally{})
		return o.Strings("statements")
	}
	edit := func(row int, path, value any) func([]*ojson.Object) []*ojson.Object {
		return func(rows []*ojson.Object) []*ojson.Object {
			rows[row].Object("approval").Set(path.(string), value)
			return rows
		}
	}
	other := g.statement(3)
	other.Gate, other.GateType = ShipGate, GateCompletion
	late := g.statement(4)
	late.IssuedAt, late.ExpiresAt = late.IssuedAt.Add(-2*time.Hour), late.IssuedAt.Add(-time.Hour)
	stranger := newSigner(t, "bob@example.org")
	for name, forge := range map[string]func([]*ojson.Object) []*ojson.Object{
		"nothing said of it": func(rows []*ojson.Object) []*ojson.Object {
			rows[last].Delete("approval")
			return rows
		},
		"the first yes is gone": func(rows []*ojson.Object) []*ojson.Object {
			return append(rows[:last-1:last-1], rows[last])
		},
		"it was denied between": func(rows []*ojson.Object) []*ojson.Object {
			denied := ojson.NewObject("type", rowDenied, "super_run_id", g.w.State.SuperRunID)
			return append(rows[:last:last], denied, rows[last])
		},
		"no statements":         edit(last, "statements", []string{}),
		"garbage":               edit(last, "statements", []string{"!"}),
		"the same person twice": edit(last, "statements", encode(adas)),
		"another gate":          edit(last, "statements", encode(g.bob.says(t, other))),
		"a statement too late":  edit(last, "statements", encode(g.bob.says(t, late))),
		"a key not listed":      edit(last, "statements", encode(stranger.says(t, g.statement(5)))),
		"another request":       edit(last, "answers", strings.Repeat("2", 40)),
		"other rules":           edit(last, "rules", strings.Repeat("2", 64)),
		"other repositories":    edit(last, "repositories", ojson.NewObject("api", strings.Repeat("c", 40))),
		"no repositories":       edit(last, "repositories", ojson.NewObject()),
		"another phase":         edit(last, "phase", "make"),
		"nothing said of it, and a gate that no rule names": func(rows []*ojson.Object) []*ojson.Object {
			rows[last].Delete("approval")
			rows[last].Set("gate", "elsewhere")
			return rows
		},
		"nothing said of it, from a phase that there is not": func(rows []*ojson.Object) []*ojson.Object {
			rows[last].Delete("approval")
			rows[last].Set("from", "elsewhere")
			return rows
		},
		"another end": func(rows []*ojson.Object) []*ojson.Object {
			rows[last].Set("gate", ShipGate)
			return rows
		},
		"no time": func(rows []*ojson.Object) []*ojson.Object {
			rows[last].Set("timestamp", "today")
			return rows
		},
	} {
		rows := make([]*ojson.Object, len(whole))
		for i, row := range whole {
			rows[i] = ojson.CloneValue(row).(*ojson.Object)
		}
		got := g.judge(forge(rows))
		if len(got) != 1 || got[0].Refusal == nil {
			t.Errorf("%s: %+v holds", name, got)
		}
	}
	if got := g.judge(whole); len(got) != 1 || got[0].Refusal != nil {
		t.Errorf("what was not touched: %+v", got)
	}
	// Where a name is enough, one of the named people suffices; where none is required, any person does.
	named := *asked
	cfg := *asked.Config
	cfg.Authority = nil
	named.Config = &cfg
	c, sum, refusal := Approve(&named, g.a.read(), nil, g.env())
	if refusal != nil || sum != nil || c.History[len(c.History)-1].Has("approval") {
		t.Errorf("without rules: %+v %v", sum, refusal)
	}
}

// TestRulesAroundAGate tries to avoid a gate with its own rule, by phases left out or inserted.
func TestRulesAroundAGate(t *testing.T) {
	decode := func(gate string) *Config {
		w := world(t, strings.Replace(goodConfig, `"project":`, `"authority": {
			"approvers": {"leads": {"principals": ["ada@example.org"]}},
			"gates": {"`+gate+`": {"by": "leads"}}}, "project":`, 1))
		return w.Config
	}
	first, second := decode("phase_transition:design->make"), decode("phase_transition:make->ship")
	every, end := decode(GatePhase), decode(ShipGate)
	for _, at := range []struct {
		cfg      *Config
		from, to string
		want     int
	}{
		{first, "design", "make", 1},
		{first, "", "make", 1},
		{first, "make", "ship", 0},
		{first, "design", "ship", 1}, // left out
		{first, "design", "x", 1},    // inserted
		{first, "x", "make", 1},
		{first, "x", "ship", 0},
		{first, "", "", 1}, // ended early
		{first, "make", "", 0},
		{second, "design", "make", 0},
		{second, "", "ship", 1},
		{second, "make", "", 1},
		{every, "design", "make", 1},
		{every, "", "x", 1},
		{every, "ship", "", 0},
		{end, "ship", "", 1},
		{end, "", "", 1},
		{end, "make", "ship", 0},
	} {
		if got := RulesOf(at.from, at.to, nil, at.cfg); len(got) != at.want {
			t.Errorf("%v, from %q to %q: %d rules, want %d", at.cfg.Authority.Gates.Keys(), at.from, at.to, len(got),
				at.want)
		}
	}
}
