// The codec on structs of its own.

package wire_test

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	err := read(`{"token":1,"issued_at_ms":"x","a/b~c":0}`, &strict.FencingToken{})
	var problems wire.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Pointer+" "+p.Rule)
	}
	want := "/token type, /issued_at_ms type, /a~1b~0c unknown_member, /issuer required, /scope required"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if text := err.Error(); text != "/token: must be a string, not a number (and 4 more)" {
		t.Error(text)
	}
	if text := (wire.Problems{{Text: "bad"}}).Error(); text != "bad" {
		t.Error(text)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := wire.Parse(nest(wire.MaxDepth)); err != nil {
		t.Error(err)
	}
	if _, err := wire.Parse(nest(wire.MaxDepth + 2)); err == nil {
		t.Error("too deep and read")
	}
	if _, err := wire.Parse(make([]byte, wire.MaxBytes+1)); err == nil {
		t.Error("too long and read")
	}
}

// A hostile document reports no more faults than a person can read, and costs no more memory than
// its size allows.
func TestMillionsOfFaults(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel()
	for _, text := range []string{
		`{"version":"v1","task_id":"t","role":"dev","goal":"g","gates_required":[` + strings.Repeat("1,",
			500_000) + `1]}`,
		`{"required_mcps":[` + strings.Repeat(`{},`, 200_000) + `{}]}`,
	} {
		var task strict.Task
		err := read(text, &task)
		var problems wire.Problems
		if !errors.As(err, &problems) || len(problems) > wire.MaxProblems {
			t.Errorf("%d faults", len(problems))
		}
	}
	wide := &ojson.Object{}
	for i := range 200_000 {
		wide.Set("k"+strconv.Itoa(i), i)
	}
	if err := wire.Decode(wide, new(strict.Task)); err == nil ||
		!strings.HasSuffix(err.Error(), "or even more than that)") {
		t.Error(err)
	}
	if err := wire.Decode(wide, new(portable.Task)); err != nil {
		t.Error(err)
	}
}

func TestEnumSets(t *testing.T) {
	t.Parallel()
	set := wire.SetOf(reflect.TypeFor[strict.LeaseRejectionReason]())
	for token, want := range map[string]int32{
		"stale_fencing_token":                1,
		"lease_expired":                      2,
		"":                                   0,
		"LEASE_REJECTION_REASON_UNSPECIFIED": 0,
		"99":                                 99,
		"-5":                                 -5,
	} {
		n, ok := set.Number(token)
		if !ok || n != want {
			t.Errorf("%q is %d %v", token, n, ok)
		}
		if token != "" && token == strings.ToLower(token) && set.Token(n) != token {
			t.Errorf("%d is %q", n, set.Token(n))
		}
	}
	if _, ok := set.Number("expired"); ok {
		t.Error("expired has a number")
	}
	if wire.SetOf(reflect.TypeFor[string]()) != nil || wire.SetOf(reflect.TypeFor[int]()) != nil {
		t.Error("a string is an enum")
	}
	if set.Has("") || set.Has("LEASE_REJECTION_EXPIRED") || !set.Has("lease_expired") {
		t.Error("Has")
	}
}

func TestEncodeOfNothing(t *testing.T) {
	t.Parallel()
	if wire.Encode((*portable.Task)(nil)) != nil {
		t.Error("a nil task is something")
	}
	if got := wire.Encode(strict.RunExecuting); got != ojson.Value("executing") {
		t.Errorf("%v", got)
	}
	if err := wire.Decode(nil, new(strict.RunLifecycleState)); err == nil {
		t.Error("null is a state")
	}
}

func TestSafeID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"task-1": true, "turn_1:abc": true, "a.b": true, "...": true, "日本": true, "a b": true,
		"": false, ".": false, "..": false, "a/b": false, `a\b`: false, "a\nb": false, " a": false, "\x00": false,
		"\xff": false, strings.Repeat("x", 201): false, strings.Repeat("x", 200): true,
	} {
		if wire.SafeID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
		if !want && wire.UnsafeText(id) == "" {
			t.Errorf("%q: nothing is said", id)
		}
	}
}

// read decodes text into dst.
func read(text string, dst any) error {
	v, err := wire.Parse([]byte(text))
	if err != nil {
		return err
	}
	return wire.Decode(v, dst)
}
