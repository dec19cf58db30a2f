// The API for documents beside the ledgers: chains, missions, plans, watch results.

package dashboard

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maxFiles bounds how many documents of one directory are read.
const maxFiles = 1000

// listed returns the documents in a directory whose names have the prefix, and how many of the
// files were not documents.
func (a *ask) listed(dir, prefix string) (docs []*ojson.Object, corrupt int) {
	f, err := a.m.root.Open(dir)
	if err != nil {
		return nil, 0
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close()
	slices.SortFunc(entries, func(x, y fs.DirEntry) int { return strings.Compare(y.Name(), x.Name()) })
	n := 0
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, ".json") {
			continue
		}
		if n++; n > maxFiles {
			break
		}
		if o := a.m.object(path.Join(dir, name)); o != nil {
			docs = append(docs, o)
		} else {
			corrupt++
		}
	}
	return docs, corrupt
}

// newestFirst sorts documents by the first of the given times that they have.
func newestFirst(docs []*ojson.Object, keys ...string) {
	slices.SortStableFunc(docs, func(x, y *ojson.Object) int { return timeOf(y, keys...).Compare(timeOf(x, keys...)) })
}

func limited(docs []*ojson.Object, limit int) []*ojson.Object {
	if limit > 0 && len(docs) > limit {
		docs = docs[:limit]
	}
	return append([]*ojson.Object{}, docs...)
}

// documents returns {latest, <name>}: the newest first.
func (a *ask) documents(dir, prefix, name string, limit int, times ...string) any {
	docs, _ := a.listed(dir, prefix)
	newestFirst(docs, times...)
	var latest any
	if len(docs) > 0 {
		latest = docs[0]
	}
	return object("latest", latest, name, limited(docs, limit))
}

// plans answers GET /api/plans?limit&mission.
func (a *ask) plans() any {
	const dir = ".agentxchain/missions/plans"
	docs, _ := a.listed(dir, "")
	if f, err := a.m.root.Open(dir); err == nil {
		entries, _ := f.ReadDir(maxFiles)
		_ = f.Close()
		for _, e := range entries {
			if e.IsDir() {
				more, _ := a.listed(path.Join(dir, e.Name()), "")
				docs = append(docs, more...)
			}
		}
	}
	if mission := a.q.Get("mission"); mission != "" {
		docs = slices.DeleteFunc(docs, func(o *ojson.Object) bool { return o.String("mission_id") != mission })
	}
	newestFirst(docs, "updated_at", "created_at")
	var latest any
	if len(docs) > 0 {
		latest = docs[0]
	}
	warnings := object("count", 0, "reconciliation_required", false, "warnings", []any{})
	if a.s.Standing != nil && a.s.Standing.Warnings != nil {
		warnings = a.s.Standing.Warnings
	}
	return object("latest", latest, "plans", limited(docs, a.limit(20)), "coordinator_warnings", warnings)
}

// watchResults answers GET /api/watch-results?limit.
func (a *ask) watchResults() any {
	docs, corrupt := a.listed(".agentxchain/watch-results", "")
	newestFirst(docs, "timestamp", "created_at")
	status := object()
	errored, same, routed, unrouted := 0, 0, 0, 0
	for _, o := range docs {
		s := cmp.Or(o.String("status"), "unknown")
		n, _ := status.Int(s)
		status.Set(s, n+1)
		if ojson.Truthy(o.Value("errors")) && len(o.Array("errors")) > 0 || o.String("error") != "" {
			errored++
		}
		if o.Bool("deduplicated") {
			same++
		}
		if ojson.Truthy(o.Value("route")) {
			routed++
		} else {
			unrouted++
		}
	}
	var last any
	if len(docs) > 0 {
		last = ojson.OrNull(firstText(docs[0], "timestamp", "created_at"))
	}
	return object("ok", true, "total", len(docs), "corrupt", corrupt, "recent", limited(docs, a.limit(25)),
		"summary", object("by_status", status, "errored", errored, "deduplicated", same, "routed", routed,
			"unrouted", unrouted, "corrupt", corrupt, "last_timestamp", last))
}
