// Tests of leases as documents and of their record in a run.

package run

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLeaseSurvivesItsDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[a-z][a-z0-9_.-]{0,30}`)
		now := time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "now"))
		l := NewLease(id.Draw(t, "run"), id.Draw(t, "turn"), id.Draw(t, "runner"), id.Draw(t, "session"),
			rapid.IntRange(1, 99999).Draw(t, "epoch"), now,
			rapid.Int64Range(0, 1<<41).Draw(t, "after"),
			now.Add(time.Duration(rapid.Int64Range(-1e12, 1e15).Draw(t, "ttl"))))
		if rapid.Bool().Draw(t, "cancelled") {
			l = l.Cancelling("because", now)
		}
		back, err := DecodeLease(l.Encode())
		if err != nil {
			t.Fatalf("%v: %s", err, l.Encode())
		}
		if string(back.Encode()) != string(l.Encode()) || back.Epoch() != l.Epoch() {
			t.Fatalf("%s became %s", l.Encode(), back.Encode())
		}
		next := l.Restore("other", l.Epoch()+1, now.Add(-time.Hour), 0, now)
		if next.FencingToken.IssuedAtMS <= l.FencingToken.IssuedAtMS ||
			next.FencingToken.Token == l.FencingToken.Token || next.LeaseID != l.LeaseID ||
			next.ExpiresAtMS < next.IssuedAtMS {
			t.Fatalf("%s was restored as %s", l.Encode(), next.Encode())
		}
	})
}

func TestLeaseDocumentIsCanonical(t *testing.T) {
	l := NewLease("r1", "s1", "w", "sess", 2, time.UnixMilli(1760000000000), 0, time.UnixMilli(1760000060000))
	want := `{
  "lease_id": "lease-s1-2",
  "run_id": "r1",
  "plan_id": "plan-r1",
  "step_id": "s1",
  "task_id": "s1",
  "runner_id": "w",
  "session_id": "sess",
  "fencing_token": {
    "token": "fence-r1-s1-0002",
    "issued_at_ms": 1760000000000,
    "issuer": "git-agentxchain",
    "scope": "run:r1/step:s1"
  },
  "issued_at_ms": 1760000000000,
  "expires_at_ms": 1760000060000,
  "status": "issued",
  "extensions": {
    "agentxchain": {
      "epoch": 2
    }
  }
}
`
	if got := string(l.Encode()); got != want {
		t.Errorf("got %s", got)
	}
}

func TestLeaseDocumentsThatAreNone(t *testing.T) {
	good := string(NewLease("r1", "s1", "w", "sess", 1, time.UnixMilli(5), 0, time.UnixMilli(9)).Encode())
	for _, c := range [][2]string{
		{`"r1"`, `"../r1"`}, {`"lease-s1-1"`, `""`}, {`"step_id": "s1"`, `"step_id": ".."`},
		{`"runner_id": "w"`, `"runner_id": ""`}, {`"session_id": "sess"`, `"session_id": 5`},
		{`"expires_at_ms": 9`, `"expires_at_ms": 1`}, {`"status": "issued"`, `"status": "kept"`},
		{`"token": "fence-r1-s1-0001"`, `"token": ""`}, {`{`, `[`},
		{`"w"`, `"` + strings.Repeat("w", 500) + `"`},
	} {
		doc := strings.Replace(good, c[0], c[1], 1)
		if l, err := DecodeLease([]byte(doc)); err == nil {
			t.Errorf("%s for %s was read as %+v", c[1], c[0], l)
		}
	}
	if _, err := DecodeLease([]byte(strings.Repeat(" ", maxLeaseDocument) + good)); err == nil {
		t.Error("a document that is too large was read")
	}
}

func FuzzDecodeLease(f *testing.F) {
	f.Add(NewLease("r1", "s1", "w", "sess", 1, time.UnixMilli(5), 0, time.UnixMilli(9)).Encode())
	f.Add([]byte(`{"lease_id":"l","fencing_token":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := DecodeLease(data)
		if err != nil {
			return
		}
		back, err := DecodeLease(l.Encode())
		if err != nil || string(back.Encode()) != string(l.Encode()) {
			t.Fatalf("%s was read, its own document was not: %v", data, err)
		}
		_, _ = l.Cancellation()
		_ = l.Epoch()
	})
}
