// Digests, and types by their names.

package monarchic_test

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
)

func TestCanonicalAndDigest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b":1.0,"a":[1e2,"\u00e9",{"z":null,"y":true}]}`: `{"a":[100,"é",{"y":true,"z":null}],"b":1}`,
		// Keys sort by UTF-16 code unit, not by code point (RFC 8785 §3.2.3).
		"{\"\uffff\":1,\"😀\":2}": "{\"😀\":2,\"\uffff\":1}",
		`"x"`:                    `"x"`, `7`: `7`, `null`: `null`, `-0`: `0`, `1e-7`: `1e-7`, `1e21`: `1e+21`,
	} {
		got, err := monarchic.Canonical(parse(t, text))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	if _, err := monarchic.Canonical("\xed\xa0\x80"); err == nil {
		t.Error("half a surrogate pair has a canonical form")
	}
	if _, err := monarchic.Canonical(ojson.Number("1e999")); err == nil {
		t.Error("1e999 has a canonical form")
	}
	// echo -n '{"goal":"g","role":"dev","task_id":"t","version":"v1"}' | sha256sum
	digest, err := monarchic.Digest(&portable.Task{Version: "v1", TaskID: "t", Role: "dev", Goal: "g"})
	if err != nil || digest != "sha256:53e439c15d3e8d033d784c44978de263202167874891cddd2b8d30bc8df05cf5" {
		t.Errorf("%s %v", digest, err)
	}
	if got := monarchic.DigestBytes(
		nil); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
}

func TestDecodeByName(t *testing.T) {
	t.Parallel()
	if _, err := monarchic.Decode("nonsense", &ojson.Object{}); err == nil || monarchic.New("nonsense") != nil {
		t.Error("there is a type called nonsense")
	}
	v, err := monarchic.Decode("task", first(t, "task"))
	if task, ok := v.(*portable.Task); err != nil || !ok || task.Role != portable.RoleDev {
		t.Errorf("%#v %v", v, err)
	}
	if len(monarchic.Types()) < 50 {
		t.Error("types are missing")
	}
}
