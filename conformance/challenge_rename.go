// Fixtures with other ids or names: what may be renamed, and where it occurs.

package conformance

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// renames maps old words to new ones. No new word is an old one.
type renames struct {
	names bool // words of people; otherwise ids, which may occur inside longer text
	order []string
	to    map[string]string
}

func (m *renames) empty() bool { return len(m.order) == 0 }

// with returns m with one more word.
func (m *renames) with(old, word string) *renames {
	out := &renames{names: m.names, order: append(slices.Clone(m.order), old), to: map[string]string{old: word}}
	maps.Copy(out.to, m.to)
	return out
}

// harvest collects words from the setup and the input of a fixture.
type harvest struct {
	rng   *rand.Rand
	order []string
	words map[string]func() string // by old word, a function that makes a new one
	fixed map[string]bool          // words that mean something where they were found
}

func newHarvest(rng *rand.Rand) *harvest {
	return &harvest{rng: rng, words: make(map[string]func() string), fixed: make(map[string]bool)}
}

// idRenames replaces every run, turn, event, decision, objection and delegation id of the setup and the input with
// another id of the same form and length.
func idRenames(f *Fixture, rng *rand.Rand) *renames {
	h := newHarvest(rng)
	h.ids("", f.Setup)
	h.ids("", f.Args)
	return h.result(f, false)
}

// nameRenames renames every role, phase, gate, runtime, repository and workstream of the setup and the input.
func nameRenames(f *Fixture, rng *rand.Rand) *renames {
	h := newHarvest(rng)
	for _, w := range protocolWords() {
		h.fixed[w] = true
	}
	if c := f.Setup.Object("coordinator_config"); c != nil && !ojson.Truthy(c.Value("routing")) {
		// Without routing a coordinator knows only the default phases (docs/coordinator.md#the-configuration).
		h.fixed["planning"], h.fixed["implementation"], h.fixed["qa"] = true, true, true
	}
	h.nameWords("", f.Setup)
	h.nameWords("", f.Args)
	return h.result(f, true)
}

// result assigns the new words: each once, and none that occurs in the fixture. Fixed words keep their places.
func (h *harvest) result(f *Fixture, names bool) *renames {
	out := &renames{names: names, to: make(map[string]string)}
	document, taken := string(ojson.Compact(f.Raw)), make(map[string]bool)
	for _, old := range h.order {
		for range 20 {
			word := h.words[old]()
			if h.fixed[old] || taken[word] || strings.Contains(document, word) {
				continue
			}
			taken[word] = true
			out.order, out.to[old] = append(out.order, old), word
			break
		}
	}
	return out
}

func (h *harvest) take(old string, word func() string) {
	if h.words[old] == nil {
		h.order, h.words[old] = append(h.order, old), word
	}
}

// ids walks a value found under key.
func (h *harvest) ids(key string, v ojson.Value) {
	switch v := v.(type) {
	case *ojson.Object:
		for k, member := range v.All() {
			// Maps keyed by turn.
			if key == "active_turns" || key == "dispatch_bundle" || strings.HasPrefix(key, "post_finalize_") {
				h.id(k)
			}
			h.ids(k, member)
		}
	case []any:
		for _, item := range v {
			h.ids(key, item)
		}
	case string:
		switch {
		case strings.HasSuffix(key, "run_id"), strings.HasSuffix(key, "turn_id"), key == "event_id":
			h.id(v)
		case isEnumKey(key):
			h.fixed[v] = true
		default:
			h.numbered(v)
		}
	}
}

// id handles an id such as turn_abc: it keeps the prefix and replaces the rest.
func (h *harvest) id(s string) {
	prefix, rest, ok := strings.Cut(s, "_")
	if !ok || prefix == "" || rest == "" || !allOf(prefix, lower) || !allOf(rest, wordByte) {
		return // odd on purpose: leave it
	}
	h.take(s, func() string { return prefix + "_" + alphanumerics(h.rng, max(len(rest), 3)) })
}

// numbered handles DEC-001, OBJ-001 and del-001.
func (h *harvest) numbered(s string) {
	prefix, digits, ok := strings.Cut(s, "-")
	if !ok || prefix != "DEC" && prefix != "OBJ" && prefix != "del" || len(digits) < 3 || len(digits) > 9 ||
		!allOf(digits, digit) {
		return
	}
	h.take(s, func() string {
		b := []byte{'1' + byte(h.rng.IntN(9))}
		for len(b) < len(digits) {
			b = append(b, '0'+byte(h.rng.IntN(10)))
		}
		return prefix + "-" + string(b)
	})
}

// nameWords walks a value found under key.
func (h *harvest) nameWords(key string, v ojson.Value) {
	switch v := v.(type) {
	case *ojson.Object:
		for k, member := range v.All() {
			switch key {
			case "roles", "routing", "gates", "runtimes", "repos", "workstreams":
				h.name(k)
			}
			h.nameWords(k, member)
		}
	case []any:
		for _, item := range v {
			h.nameWords(key, item)
		}
	case string:
		switch key {
		case "role", "role_id", "assigned_role", "entry_role", "to_role", "proposed_next_role", "allowed_next_roles",
			"runtime", "runtime_id", "exit_gate", "gate", "phase", "current_phase", "requested_phase",
			"phase_transition_request", "repo_id", "entry_repo", "workstream_id", "depends_on":
			h.name(v)
		}
	}
}

func (h *harvest) name(s string) {
	if len(s) < 2 || s[0] < 'a' || s[0] > 'z' ||
		!allOf(s, func(c byte) bool { return wordByte(c) && (c < 'A' || c > 'Z') }) {
		return // odd on purpose
	}
	h.take(s, func() string { return letters(h.rng, max(len(s), 4)) })
}

// rename applies m and gives the fixture another id. It returns nil when the result is not a fixture.
func rename(f *Fixture, m *renames, rng *rand.Rand) *Fixture {
	raw := f.Raw.Clone()
	for _, part := range []string{"setup", "input", "expected"} {
		if v, has := raw.Get(part); has {
			raw.Set(part, m.value(part, v))
		}
	}
	// The operation is a word of the protocol, whatever its name.
	if in := raw.Object("input"); in != nil {
		in.Set("operation", f.Operation)
	}
	if id, ok := mustText(raw, "fixture_id"); ok {
		raw.Set("fixture_id", otherFixtureID(id, rng))
	}
	out, bad := shape(raw)
	if len(bad) > 0 {
		return nil
	}
	return out
}

func mustText(o *ojson.Object, key string) (string, bool) {
	s, ok := o.Value(key).(string)
	return s, ok
}

// value renames in a value found under key.
func (m *renames) value(key string, v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case *ojson.Object:
		out := ojson.NewObject()
		for k, member := range v.All() {
			out.Set(m.text(k), m.value(k, member))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.value(key, item)
		}
		return out
	case string:
		if m.names && isEnumKey(key) {
			return v
		}
		return m.text(v)
	}
	return v
}

// text renames inside text: the whole text; ids that are words of their own; names in quotes and in dotted member
// paths, where messages and documents have them.
func (m *renames) text(s string) string {
	if word, ok := m.to[s]; ok {
		return word
	}
	if ws, ok := strings.CutSuffix(s, "_completion"); ok && m.names && m.to[ws] != "" {
		return m.to[ws] + "_completion" // the name of a barrier without one of its own
	}
	dotted := m.names && strings.ContainsRune(s, '.') && !strings.ContainsAny(s, " /\\\"") &&
		!strings.HasPrefix(s, ".")
	var b strings.Builder
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && wordByte(s[end]) {
			end++
		}
		word, whole := m.to[s[i:end]], true
		if m.names {
			quoted := i > 0 && end < len(s) && s[i-1] == '"' && s[end] == '"'
			whole = quoted || dotted
		}
		if word == "" || !whole {
			word = s[i:end]
		}
		b.WriteString(word)
		i = end
	}
	return b.String()
}

// isEnumKey reports whether the values of a member are words of the protocol or prose.
func isEnumKey(key string) bool {
	switch key {
	case "type", "category", "status", "kind", "severity", "verdict", "operation", "assert", "error_type", "action",
		"write_authority", "failed_stage", "stages_passed", "completion_barrier", "mode", "transport", "event_type",
		"durability", "result", "orchestrator_action", "hook_phase", "title", "name", "description", "mandate",
		"summary", "charter", "statement", "rationale", "reason", "detail", "trigger", "target_status", "new_status",
		"previous_status", "valid_values", "command", "path":
		return true
	}
	return false
}

// protocolWords returns words that look like names but are not.
func protocolWords() []string {
	return append([]string{"human", "manual", "system"}, config.HookPhases()...)
}

// otherFixtureID replaces letters with letters and digits with digits.
func otherFixtureID(id string, rng *rand.Rand) string {
	b := []byte(id)
	for i := range b {
		c := b[i]
		switch {
		case 'A' <= c && c <= 'Z':
			b[i] = 'A' + byte(rng.IntN(26))
		case 'a' <= c && c <= 'z':
			b[i] = 'a' + byte(rng.IntN(26))
		case digit(c):
			b[i] = '0' + byte(rng.IntN(10))
		}
	}
	return string(b)
}

func alphanumerics(rng *rand.Rand, n int) string {
	const from = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = from[rng.IntN(len(from))]
	}
	return string(b)
}

func allOf(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

// wordByte reports whether a byte can be part of an id or a name.
func wordByte(c byte) bool {
	return lower(c) || digit(c) || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
}
