// Ordering the events of several repositories (docs/export.md#what-is-in-it).

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

// event is what ordering and counting need from one event.
type event struct {
	repo string
	at   float64 // milliseconds; infinite without a valid time
	id   string
	kind string

	digest scan.Digest // of the event with its repo_id, for verifying
	start  int64       // where its text is in the spool, for exporting
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

// textOf converts a value to a JavaScript string, "" if it is falsy.
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

// sortEvents sorts events in the order of an artifact: time, then id.
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

// countEvents returns the repositories with events, sorted, and the number of events of each type.
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

// codeUnits compares strings by UTF-16 code units.
func codeUnits(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
