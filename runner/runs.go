// The runs of a repository: listing them, and moving them to and from the archive
// (docs/teams.md#archived-runs).

package runner

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archiving"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Archived runs.
type (
	ArchiveEntry   = archive.Entry
	ArchiveOptions = archiving.Options
	ArchiveDone    = archiving.Done
	PruneOptions   = archiving.PruneOptions
	PruneDone      = archiving.PruneDone
)

// Places of a run in this clone.
const (
	PlaceLive   = "live"     // a run ref
	PlacePast   = "archived" // in the archive, with its operations here
	PlaceAway   = "fetched on demand"
	PlaceRemove = "removed" // a person has removed its operations
)

// StatusUnreadable is the status shown for a run whose newest operation is damaged.
const StatusUnreadable = "unreadable"

// RunRow is a run of the repository.
type RunRow struct {
	Run     string
	Place   string
	Op      OpID
	Status  string
	Project string    // id, "" where the run's state is not read
	At      time.Time // of the newest operation
	Last    string    // name of the newest operation, "" when it is not here
	Archive *ArchiveEntry

	Witnesses int // keys that signed its newest operation; set by RunNamed alone
}

// CurrentRun returns the run that the work tree is in, "" when it is in none.
func (r *Runner) CurrentRun() string { return r.store.CurrentRun() }

// ProjectID returns the id of the project, "" when its configuration cannot be read.
func (r *Runner) ProjectID(ctx context.Context) string { return r.store.ProjectID(ctx) }

// RunList lists the runs of the repository, the one that moved last first: live ones, archived ones
// or both, at most limit (0: all).
func (r *Runner) RunList(ctx context.Context, live, archived bool, limit int) ([]RunRow, error) {
	list, err := archive.ReadAll(ctx, r.store.Repository(), archive.ListPrefix)
	if err != nil {
		return nil, err
	}
	var out []RunRow
	if live {
		tips, err := chain.RunTips(ctx, r.store.Repository(), limit)
		if err != nil {
			return nil, err
		}
		for _, t := range tips {
			row := RunRow{Run: t.Run, Place: PlaceLive, Op: t.Ref.OID, At: t.Last.Time, Last: t.Last.Name}
			// The other runs are still listed.
			row.Status = StatusUnreadable
			if st, err := chain.StateAt(ctx, r.store.Repository(), t.Ref.OID); err == nil {
				row.Status, row.Project = string(st.Status), st.ProjectID
			}
			out = append(out, row)
		}
	}
	if live {
		// Damaged runs come first, so that they are seen.
		broken, err := chain.BrokenRuns(ctx, r.store.Repository())
		if err != nil {
			return nil, err
		}
		for _, name := range broken {
			out = slices.DeleteFunc(out, func(row RunRow) bool { return row.Run == name })
			out = append(out, RunRow{Run: name, Place: PlaceLive, Status: StatusUnreadable, At: r.Now()})
		}
	}
	if archived {
		past, err := r.store.Repository().Tips(ctx, archive.PastPrefix)
		if err != nil {
			return nil, err
		}
		seen := make(map[string]bool, len(out))
		for _, row := range out {
			seen[row.Run] = true // it went on after it was archived
		}
		for _, e := range list {
			if row, ok := archivedRow(e, past[e.Run]); ok && !seen[e.Run] {
				out = append(out, row)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b RunRow) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Run, b.Run)) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

func archivedRow(e *ArchiveEntry, past OpID) (RunRow, bool) {
	row := RunRow{Run: e.Run, Op: OpID(e.Op), Status: e.Status, Archive: e}
	row.At, _ = time.Parse(time.RFC3339, e.Ended)
	switch {
	case e.State == archive.Removed:
		row.Place = PlaceRemove
	case e.State != archive.Archived:
		return row, false
	case past != "":
		row.Place = PlacePast
	default:
		row.Place = PlaceAway
	}
	return row, true
}

// RunNamed returns one run of the repository. It fetches the missing operations of an archived run.
// Codes: no_run, run_removed.
func (r *Runner) RunNamed(ctx context.Context, name string) (*RunRow, error) {
	list, err := archive.ReadAll(ctx, r.store.Repository(), archive.ListPrefix)
	if err != nil {
		return nil, err
	}
	ops, err := r.store.Log(ctx, name, 1)
	if err != nil {
		return nil, err
	}
	row := &RunRow{Run: ops[0].Run, Place: PlaceLive, Op: ops[0].Op, At: ops[0].Time, Last: ops[0].Name}
	st, err := chain.StateAt(ctx, r.store.Repository(), row.Op)
	if err != nil {
		return nil, err
	}
	row.Status, row.Project = string(st.Status), st.ProjectID
	past, err := r.store.Repository().Tips(ctx, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	if past[row.Run] == row.Op {
		row.Place, row.Archive = PlacePast, list.Archived(row.Run)
	}
	row.Witnesses, err = witness.Count(ctx, r.store.Repository(), row.Run)
	return row, err
}

// ArchiveRuns moves runs that are over into the archive. Only a person may do it, as it changes
// what others see. Codes: inside_dispatched_turn, and those of Store.Archive.
func (r *Runner) ArchiveRuns(ctx context.Context, opt ArchiveOptions) (*ArchiveDone, error) {
	if err := r.personOnly("archive runs", "git agentxchain runs archive"); err != nil {
		return nil, err
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	opt.Wait = r.opt.LockWait
	return archiving.Archive(ctx, r.store, opt)
}

// UnarchiveRuns moves runs out of the archive again.
func (r *Runner) UnarchiveRuns(ctx context.Context, runs []string) ([]*ArchiveEntry, error) {
	if err := r.personOnly("take runs out of the archive", "git agentxchain runs unarchive"); err != nil {
		return nil, err
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	return archiving.Unarchive(ctx, r.store, runs, r.opt.LockWait)
}

// PruneRuns deletes the operations of archived runs from this clone.
func (r *Runner) PruneRuns(ctx context.Context, opt PruneOptions) (*PruneDone, error) {
	if err := r.personOnly("prune runs", "git agentxchain runs prune"); err != nil {
		return nil, err
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	opt.Wait = r.opt.LockWait
	return archiving.Prune(ctx, r.store, opt)
}

// keyArchiveAfter makes a sync archive runs that ended longer ago than its value. It is a setting
// of the clone: how long a record stays among the live ones is housekeeping, not a rule that a run
// is judged by.
const keyArchiveAfter = "agentxchain.archiveAfter"

// archiveOld archives the runs that agentxchain.archiveAfter selects.
func (r *Runner) archiveOld(ctx context.Context, wait time.Duration) error {
	value := r.store.Repository().Setting(ctx, keyArchiveAfter)
	if value == "" || value == "never" {
		return nil
	}
	age, err := ParseAge(value)
	if err != nil {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   keyArchiveAfter,
			Message: keyArchiveAfter + ": " + err.Error(),
			Hint:    "git config " + keyArchiveAfter + " 90d",
		}
	}
	_, err = archiving.Archive(ctx, r.store, ArchiveOptions{Before: r.Now().Add(-age), Wait: wait})
	return err
}

// ParseAge reads an age: 90d, 12w, 36h.
func ParseAge(s string) (time.Duration, error) {
	bad := &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Message: wire.Quoted(s) + " is not an age such as 90d, 12w or 36h.",
	}
	unit, ok := map[string]time.Duration{
		"h": time.Hour,
		"d": 24 * time.Hour,
		"w": 7 * 24 * time.Hour,
	}[s[max(0, len(s)-1):]]
	if !ok {
		return 0, bad
	}
	n, err := strconv.Atoi(strings.TrimSpace(s[:len(s)-1]))
	if err != nil || n < 0 || n > 100000 {
		return 0, bad
	}
	return time.Duration(n) * unit, nil
}
