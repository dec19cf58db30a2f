// The exporting machine's dashboard (docs/export.md#what-is-in-it).

package restore

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// DashboardSession returns {status, pid, url, started_at}: the state of a dashboard, from the files below dir and
// the processes of this machine, as an export records it. It changes nothing.
func DashboardSession(dir string) *ojson.Object {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return noDashboard()
	}
	defer func() { _ = root.Close() }()
	session, _ := dashboardSession(root, process.Alive)
	return session
}

func noDashboard() *ojson.Object {
	return ojson.NewObject("status", "not_running", "pid", nil, "url", nil, "started_at", nil)
}

// dashboardSession reads the files that a dashboard leaves, without changing anything. live is true when its
// process exists.
func dashboardSession(root *os.Root, lives func(int) bool) (session *ojson.Object, live bool) {
	pid := 0
	if text, ok := small(root, pidFile); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 {
			pid = n
			live = lives(n)
		}
	}
	var doc *ojson.Object
	if text, ok := small(root, dashboardFile); ok {
		doc, _ = ojson.DecodeObject(text)
	}
	text := func(key string) any {
		if s := doc.String(key); s != "" {
			return s
		}
		return nil
	}
	started := text("started_at")
	if !isTime(started) {
		started = nil
	}
	switch {
	case live && doc != nil:
		return ojson.NewObject("status", "running", "pid", pid, "url", text("url"), "started_at", started), true
	case live:
		return ojson.NewObject("status", "pid_only", "pid", pid, "url", nil, "started_at", nil), true
	case doc != nil && pid == 0:
		var was any
		if n, ok := integer(get(doc, "pid")); ok && n > 0 {
			was = n
		}
		return ojson.NewObject("status", "stale", "pid", was, "url", text("url"), "started_at", started), false
	}
	return noDashboard(), false
}

// small reads a small file.
func small(root *os.Root, name string) ([]byte, bool) {
	fi, err := root.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, false
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return data, err == nil
}

// DecisionSummary returns the summary of the rows of repo-decisions.jsonl in an artifact
// (docs/export.md#what-is-in-it), nil without any. config is agentxchain.json as written, nil without one.
func DecisionSummary(rows []*ojson.Object, config *ojson.Object) *ojson.Object {
	return summarizeDecisions(rows, config)
}
