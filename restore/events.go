// Events of several repositories in one order (docs/export.md#what-is-in-it).

package restore

import (
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// event is what the order and the counts need of one event.
type event struct {
	repo string
	at   float64 // milliseconds; infinite when there is no such time
	id   string
	kind string

	digest scan.Digest // of the event with its repo_id, when verifying
	start  int64       // where its text is in the spool, when exporting
	length int
}

func newEvent(repo string, row *ojson.Object) event {
	e := event{repo: repo, at: math.Inf(1), id: textOf(get(row, "event_id"))}
	if t, err := wire.ParseTime(row.String("timestamp")); err == nil {
		e.at = float64(t.UnixMilli())
	}
	e.kind = textOf(or(get(row, "event_type"), or(get(row, "type"), "unknown")))
	return e
}

// textOf is a value as a JavaScript string, "" for what counts as false.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case ojson.Number, bool:
		if truthy(v) {
			return string(ojson.Compact(v))
		}
	case *ojson.Object:
		return "[object Object]"
	}
	return ""
}

// sortEvents puts events in the order of an artifact: time, then id.
func sortEvents(list []event) {
	slices.SortStableFunc(list, func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return collate(a.id, b.id)
	})
}

// countEvents returns the repositories with events, sorted, and how many there are
// of each type.
func countEvents(list []event) (repos []any, types *ojson.Object) {
	seen := make(map[string]bool)
	counts := make(map[string]int)
	var names []string
	types = &ojson.Object{}
	for _, e := range list {
		if !seen[e.repo] {
			seen[e.repo] = true
			names = append(names, e.repo)
		}
		if counts[e.kind]++; counts[e.kind] == 1 {
			types.Set(e.kind, 0)
		}
	}
	for k, n := range counts {
		types.Set(k, n)
	}
	slices.SortFunc(names, codeUnits)
	repos = []any{}
	for _, n := range names {
		repos = append(repos, n)
	}
	return repos, types
}

// codeUnits is the order of UTF-16 code units.
func codeUnits(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
