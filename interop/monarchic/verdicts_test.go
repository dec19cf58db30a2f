// Two readers of one protocol, the codec and the schemas with their rules, agree on every document.

package monarchic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func TestSamplesSatisfyTheSchemas(t *testing.T) {
	t.Parallel()
	for name, texts := range samples() {
		for _, text := range texts {
			findings, err := check.Value(name, parse(t, text))
			if err != nil || !check.Valid(findings) {
				t.Errorf("%s: %v %v\n%s", name, err, findings, text)
			}
		}
	}
}

// judged reports the rules that the strict decoder applies too; the others (safe ids, versions,
// order of times) do not concern a parser.
func judged(name monarchic.Type, rule string) bool {
	switch rule {
	case "required", "additionalProperties", "type", "enum", "minimum", "maximum", "integer.spelling", "number.range",
		"text.surrogate", "strict.empty", "strict.unspecified", "task.compatibility", "verification.passed",
		"verification.blocked", "verification.failed", "message.kind", "message.reply_kind", "override.times",
		"auth.times", "usage.quantity":
		return true
	case "strict.blank":
		// A lease, its token and a recovery event may hold blanks for all a parser cares.
		return !strings.HasPrefix(string(name), "durable_authority/") ||
			name == "durable_authority/manual_override_record"
	}
	return false
}

func TestCodecAndSchemasAgreeOnMutations(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel()
	compared, refused := 0, 0
	for _, name := range monarchic.Types() {
		if !name.Strict() {
			continue
		}
		for _, text := range samples()[name] {
			root, ok := parse(t, text).(*ojson.Object)
			if !ok {
				continue
			}
			mutate(root, func(what string) {
				_, err := monarchic.Decode(name, root)
				findings, failed := check.Value(name, root)
				if failed != nil {
					t.Fatal(failed)
				}
				invalid := slices.ContainsFunc(findings, func(f check.Finding) bool {
					return f.Severity == check.Error && judged(name, f.Rule)
				})
				compared++
				if err != nil {
					refused++
				}
				if invalid != (err != nil) {
					t.Errorf("%s, %s: the codec says %v, the schemas %v\n%s", name, what, err, findings,
						ojson.Compact(root))
				}
			})
		}
	}
	if compared < 3000 || refused < 2000 {
		t.Errorf("only %d documents were compared, %d of them refused", compared, refused)
	}
}

// mutate calls look with each change of o and of the objects in it, and undoes the change.
func mutate(o *ojson.Object, look func(what string)) {
	values := []any{nil, true, "", " ", "unspecified", "garbage", "\xed\xa0\x80", ojson.Number("0"),
		ojson.Number("-1"), ojson.Number("1.5"), ojson.Number("1.0"), ojson.Number("1e3"), ojson.Number("4294967296"),
		ojson.Number("18446744073709551616"), []any{}, []any{nil}, []any{"x"}, &ojson.Object{},
		ojson.NewObject("x", 1)}
	for _, key := range slices.Clone(o.Keys()) {
		was, _ := o.Get(key)
		for _, v := range values {
			o.Set(key, v)
			look(key + " set")
		}
		o.Delete(key)
		look(key + " dropped")
		o.Set(key, was)
		switch was := was.(type) {
		case *ojson.Object:
			mutate(was, look)
		case []any:
			for _, item := range was {
				if sub, ok := item.(*ojson.Object); ok {
					mutate(sub, look)
				}
			}
		}
	}
	o.Set("x_new", 1)
	look("x_new added")
	o.Delete("x_new")
}

// The portable codec reads everything that the schemas accept.
func TestCodecReadsWhatTheSchemasAccept(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel()
	accepted := 0
	for _, name := range monarchic.Types() {
		if name.Strict() {
			continue
		}
		for _, text := range samples()[name] {
			root, ok := parse(t, text).(*ojson.Object)
			if !ok {
				continue
			}
			mutate(root, func(what string) {
				findings, failed := check.Value(name, root)
				if failed != nil {
					t.Fatal(failed)
				}
				if !check.Valid(findings) {
					return
				}
				accepted++
				v, err := monarchic.Decode(name, root)
				if err != nil {
					t.Errorf("%s, %s: %v\n%s", name, what, err, ojson.Compact(root))
					return
				}
				again, err := check.Value(name, wire.Encode(v))
				if err != nil || !check.Valid(again) {
					t.Errorf("%s, %s: writing it made it invalid: %v\n%s\n%s", name, what, again, ojson.Compact(root),
						ojson.Compact(wire.Encode(v)))
				}
			})
		}
	}
	if accepted < 500 {
		t.Errorf("only %d documents were accepted", accepted)
	}
}
