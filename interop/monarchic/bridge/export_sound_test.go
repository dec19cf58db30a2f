// The checks that every export must pass.

package bridge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func (p *project) export(opt bridge.Options) *bridge.Export {
	p.t.Helper()
	opt.Version = "1.2.3"
	x, err := bridge.Read(p.ctx, p.r, opt)
	p.must(err)
	return x
}

// sound checks a whole export against the schemas and rules, the structs, and itself.
func sound(t *testing.T, x *bridge.Export) map[string][]*ojson.Object {
	t.Helper()
	found := make(map[string][]*ojson.Object)
	ids := make(map[string]bool)
	for _, strictly := range []bool{false, true} {
		groups, err := x.All(strictly)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		for _, g := range groups {
			for _, o := range g.Objects {
				obj := o.Value.(*ojson.Object)
				name := g.Kind
				if strictly {
					name += " strict"
				}
				found[name] = append(found[name], obj)
				findings, err := check.Value(o.Type, o.Value)
				if err != nil || len(findings) > 0 {
					t.Errorf("%s: %v %v\n%s", name, findings, err, ojson.Pretty(obj))
				}
				v, err := monarchic.Decode(o.Type, o.Value)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if again := ojson.Compact(wire.Encode(v)); string(again) != string(ojson.Compact(obj)) {
					t.Errorf("%s comes back another:\n%s\n%s", name, ojson.Compact(obj), again)
				}
				log.Write(ojson.Compact(obj))
				log.WriteByte('\n')
				for _, member := range []string{"event_id", "receipt_id", "verification_id", "decision_id", "scope_id",
					"lease_id", "artifact_id"} {
					if id := obj.String(member); id != "" {
						if key := name + member + id; ids[key] {
							t.Errorf("%s: %s %s twice", name, member, id)
						} else {
							ids[key] = true
						}
					}
				}
			}
		}
		if strictly {
			continue // the strict family has no acknowledgements for checking messages
		}
		s := check.New(check.Options{Log: true})
		r := s.Input("all", []byte(log.String()))
		s.Close()
		for _, f := range r.Findings {
			// These lack an answer, and the check says so.
			if f.Severity == check.Error && !(f.Rule == "log.ack_missing" && unanswered(x, f.Message)) {
				t.Errorf("as a log: %v", f)
			}
		}
		if r.Unreadable != "" {
			t.Error(r.Unreadable)
		}
	}
	closed(t, x, found)
	return found
}

func unanswered(x *bridge.Export, finding string) bool {
	return slices.ContainsFunc(x.Mailbox(), func(m *bridge.Mail) bool {
		return len(m.Acks) == 0 && strings.Contains(finding, m.Message.MessageID)
	})
}

// closed checks that everything an object names is exported too.
func closed(t *testing.T, x *bridge.Export, found map[string][]*ojson.Object) {
	t.Helper()
	steps, receipts := map[string]bool{x.Run: true}, make(map[string]bool)
	for _, s := range found["plan"][0].Objects("steps") {
		for _, d := range s.Strings("depends_on") {
			if !steps[d] {
				t.Errorf("step %s depends on %s, which is not before it", s.String("step_id"), d)
			}
		}
		steps[s.String("step_id")] = true
	}
	for _, r := range found["receipt strict"] {
		receipts[r.String("receipt_id")] = true
	}
	for _, v := range found["verification"] {
		for _, id := range v.Strings("execution_receipt_ids") {
			if !receipts[id] {
				t.Errorf("verification of a receipt that there is not: %s", id)
			}
		}
	}
	for _, kind := range []string{"artifacts", "tasks", "receipt strict"} {
		for _, o := range found[kind] {
			if id := o.String("task_id"); !steps[id] {
				t.Errorf("%s: %s is no step", kind, id)
			}
		}
	}
	artifacts := make(map[string]bool)
	for _, a := range found["artifacts strict"] {
		artifacts[a.String("artifact_id")] = true
	}
	for _, kind := range []string{"events strict"} {
		for _, o := range found[kind] {
			for _, id := range o.Strings("artifact_ids") {
				if !artifacts[id] {
					t.Errorf("%s names artifact %s", kind, id)
				}
			}
		}
	}
}

// hashOf recomputes a digest from exported JSON, without the package under test.
func hashOf(t *testing.T, v ojson.Value) string {
	t.Helper()
	text, err := jcs.Transform(ojson.Compact(v))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
