package notify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

var reminding = Config{
	Webhooks: []Webhook{webhook("a", "http://h", ApprovalReminder), webhook("b", "http://h", ApprovalReminder)},
	SLA:      &SLA{Thresholds: []int64{300, 600}},
}

const asked = "2026-03-04T05:00:00.000Z"

func waiting(runID, at string) *run.State {
	s := &run.State{
		Status:                 wire.StatusPaused,
		Phase:                  "planning",
		PendingPhaseTransition: &run.PendingTransition{From: "planning", To: "build", Gate: "g", RequestedAt: at},
	}
	s.RunID = &runID
	return s
}

func after(d time.Duration) time.Time {
	at, _ := wire.ParseTime(asked)
	return at.Add(d)
}

func results(delivered ...bool) []Result {
	var out []Result
	for i, d := range delivered {
		out = append(out, Result{Webhook: string(rune('a' + i)), Delivered: d})
	}
	return out
}

func TestDue(t *testing.T) {
	s := waiting("run_1", asked)
	sent := &Sent{}
	if due := sent.due(reminding, s, after(299*time.Second)); len(due) != 0 {
		t.Fatalf("%v", due)
	}
	due := sent.due(reminding, s, after(301*time.Second))
	if len(due) != 1 || due[0].Event.Type != ApprovalReminder || due[0].Event.Only != nil {
		t.Fatalf("%v", due)
	}
	const want = `{"approval_type":"pending_phase_transition","requested_at":"2026-03-04T05:00:00.000Z","elapsed_seconds":301,"threshold_seconds":300,"reminder_index":1,"total_thresholds":2,"from_phase":"planning","to_phase":"build","gate":"g"}`
	if got := string(ojson.Compact(due[0].Event.Payload)); got != want {
		t.Error(got)
	}
	sent.record(due[0], results(true, true))
	if due := sent.due(reminding, s, after(302*time.Second)); len(due) != 0 {
		t.Errorf("sent twice: %v", due)
	}
	if due := (&Sent{}).due(reminding, s, after(time.Hour)); len(due) != 2 {
		t.Errorf("overdue: %v", due)
	}
	if got := string(sent.encode()); got != "[\n  \"pending_phase_transition:300:run_1:2026-03-04T05:00:00.000Z\"\n]\n" {
		t.Errorf("%q", got)
	}
}

func TestReminderOfAnotherApprovalIsNotSuppressed(t *testing.T) {
	sent := &Sent{}
	send := func(s *run.State, at time.Time) int {
		due := sent.due(reminding, s, at)
		for _, r := range due {
			sent.record(r, results(true, true))
		}
		return len(due)
	}
	if send(waiting("run_1", asked), after(400*time.Second)) != 1 {
		t.Error("the first")
	}
	later := wire.FormatTime(after(time.Hour))
	if send(waiting("run_1", later), after(time.Hour+400*time.Second)) != 1 {
		t.Error("a later approval of the same run")
	}
	if send(waiting("run_2", later), after(time.Hour+400*time.Second)) != 1 {
		t.Error("another run")
	}
	if len(sent.keys) != 1 {
		t.Errorf("resolved approvals are kept: %q", sent.keys)
	}
	if send(&run.State{Status: wire.StatusActive}, after(2*time.Hour)) != 0 || len(sent.keys) != 0 || !sent.changed {
		t.Errorf("%q", sent.keys)
	}
	if send(waiting("run_1", ""), after(2*time.Hour)) != 0 {
		t.Error("a reminder although the beginning of the wait is unknown")
	}
}

func TestFailedReminders(t *testing.T) {
	s, at := waiting("run_1", asked), after(400*time.Second)
	sent := &Sent{}
	sent.record(sent.due(reminding, s, at)[0], results(true, false))
	for i := range 2 {
		sent = parseSent(sent.encode())
		due := sent.due(reminding, s, at)
		if len(due) != 1 || !slices.Equal(due[0].Event.Only, []string{"b"}) {
			t.Fatalf("evaluation %d: %+v", i, due)
		}
		sent.record(due[0], []Result{{Webhook: "b"}})
	}
	if due := sent.due(reminding, s, at); len(due) != 0 {
		t.Errorf("no end of it: %+v %q", due, sent.keys)
	}

	sent = &Sent{}
	sent.record(sent.due(reminding, s, at)[0], results(false, false))
	due := sent.due(reminding, s, at)
	sent.record(due[0], []Result{{Webhook: "a", Delivered: true}, {Webhook: "b", Delivered: true}})
	if len(sent.due(reminding, s, at)) != 0 || len(sent.keys) != 1 {
		t.Errorf("%q", sent.keys)
	}
}

func TestForeignKeys(t *testing.T) {
	sent := parseSent(
		[]byte(`["pending_run_completion:300","pending_phase_transition:300","something else",7,"something else"]`),
	)
	if due := sent.due(reminding, waiting("run_1", asked), after(400*time.Second)); len(due) != 1 {
		t.Errorf("%v", due)
	}
	if d := cmp.Diff([]string{"pending_phase_transition:300", "something else"}, sent.keys); d != "" {
		t.Error(d)
	}
	for _, s := range []string{"", "{}", "[", "null", `"x"`} {
		if got := parseSent([]byte(s)); len(got.keys) != 0 {
			t.Errorf("%q: %q", s, got.keys)
		}
	}
}

// Each threshold of an approval is delivered to each webhook exactly once when every delivery
// succeeds, whatever the times of evaluation.
func TestRemindersOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := waiting("run_1", asked)
		sent, count, at := &Sent{}, map[string]int{}, after(0)
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 400), 1, 12).Draw(t, "steps") {
			at = at.Add(time.Duration(step) * time.Second)
			for _, r := range sent.due(reminding, s, at) {
				count[r.key]++
				sent.record(r, results(true, true))
			}
			sent = parseSent(sent.encode())
		}
		want := 0
		for _, th := range reminding.SLA.Thresholds {
			if int64(at.Sub(after(0))/time.Second) >= th {
				want++
			}
		}
		if len(count) != want {
			t.Fatalf("%d of %d", len(count), want)
		}
		for k, n := range count {
			if n != 1 {
				t.Fatalf("%s %d times", k, n)
			}
		}
	})
}

func TestRemind(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	n := 0
	send := func(Event) ([]Result, bool) { n++; return results(true, true), true }
	held := 0
	lock := func() (func(), error) {
		held++
		return func() { held-- }, root.MkdirAll(".agentxchain", 0o755)
	}
	s, at := waiting("run_1", asked), after(400*time.Second)

	if err := Remind(root, reminding, s, after(0), lock, send); err != nil || n != 0 {
		t.Fatal(err, n)
	}
	if _, err := os.Stat(filepath.Join(dir, ".agentxchain")); err == nil {
		t.Error("nothing was due, yet something was written")
	}
	if err := Remind(root, reminding, s, at, lock, func(Event) ([]Result, bool) { return nil, false }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remind(root, reminding, s, at, lock, send); err != nil || n != 1 {
			t.Fatal(err, n)
		}
	}
	data, _ := os.ReadFile(filepath.Join(dir, RemindersPath))
	if !strings.Contains(string(data), "pending_phase_transition:300:run_1") {
		t.Errorf("%s", data)
	}
	// Another evaluation is under way, and then is not.
	now := time.Now()
	at2 := waiting("run_2", wire.FormatTime(now.Add(-400*time.Second)))
	if err := Remind(root, reminding, at2, now, func() (func(), error) { return nil, nil }, send); err != nil || n != 1 {
		t.Fatal(err, n)
	}
	if err := Remind(root, reminding, at2, now, lock, send); err != nil || n != 2 {
		t.Fatal(err, n)
	}
	if held != 0 {
		t.Errorf("the lock is held %d times, expected 0", held)
	}
}

func TestRemindRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.MkdirAll(filepath.Join(dir, RemindersPath), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Remind(root, reminding, waiting("run_1", asked), after(time.Hour),
		func() (func(), error) { return func() {}, nil }, func(Event) ([]Result, bool) { t.Error("sent"); return nil, true }); err == nil {
		t.Error("no error")
	}
}

func FuzzParseSent(f *testing.F) {
	f.Add([]byte(`["pending_phase_transition:300:run_1:2026-03-04T05:00:00.000Z#a=2"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := parseSent(data)
		s.due(reminding, waiting("run_1", asked), after(time.Hour))
		again := parseSent(s.encode())
		if !slices.Equal(again.keys, s.keys) {
			t.Fatalf("%q %q", s.keys, again.keys)
		}
	})
}
