package archive

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	// ListPrefix is the ref prefix of the lists; the year follows it.
	ListPrefix = git.RefSpace + "archive-list/"
	// KeepPrefix is the prefix under which a remote keeps the operations of archived runs; the year follows it. Its
	// ref is a commit whose parents are the newest operations of those runs.
	KeepPrefix = git.RefSpace + "archive/"
	// PastPrefix is the prefix under which a clone keeps an archived run; the run id follows it.
	PastPrefix = git.RefSpace + "past/"
)

// States of an Entry.
const (
	Archived = "archived"
	Live     = "live"    // it was taken out of the archive
	Removed  = "removed" // its operations were given up, for the reason in Because
)

// Entry is what the list says of one run.
type Entry struct {
	Run     string `json:"run_id"`
	State   string `json:"state"`
	Change  int    `json:"change"` // counts the changes of the entry: the higher count wins
	Op      string `json:"op"`     // the run's newest operation
	Ops     int    `json:"operations"`
	Status  string `json:"status"`
	Ended   string `json:"ended_at"` // time of the newest operation
	By      string `json:"by"`       // who made the change
	At      string `json:"at"`
	Because string `json:"because,omitempty"`
	Extra   ojson.Extra
}

// Year is the list an entry belongs to.
func (e *Entry) Year() string {
	if t, err := time.Parse(time.RFC3339, e.Ended); err == nil {
		return t.UTC().Format("2006")
	}
	return ""
}

func (e *Entry) line() []byte { return ojson.Compact(ojson.Marshal(e)) }

// List maps runs to the entries of one year, or of all years.
type List map[string]*Entry

// maxChange is the highest count of changes. At this count the count no longer decides between two entries, so an
// entry with a huge count cannot hide a run in the archive for good.
const maxChange = 1 << 30

// Changed counts another change.
func (e *Entry) Changed() { e.Change = min(e.Change+1, maxChange) }

// rank orders the states where the count of changes does not decide.
func (e *Entry) rank() int {
	if e.Change < maxChange {
		return 0
	}
	return slices.Index([]string{Removed, Archived, Live}, e.State)
}

// maxList bounds a list that is read, in bytes: some 200,000 runs.
const maxList = 64 << 20

// decode reads a list. It skips lines that are not entries, because foreign lists are not trusted.
func decode(data []byte, format string) List {
	out := make(List)
	if len(data) > maxList {
		return out
	}
	for line := range bytes.Lines(data) {
		o, err := ojson.DecodeObject(line)
		if err != nil {
			continue
		}
		e := &Entry{}
		if errs := ojson.Unmarshal(o,
			e); len(errs) > 0 || git.BadRunID(e.Run) != "" || !object.OID(e.Op).Valid(format) ||
			e.Year() == "" || e.Change < 1 || e.Change > maxChange ||
			!slices.Contains([]string{Archived, Live, Removed}, e.State) {
			continue
		}
		out[e.Run] = newer(out[e.Run], e)
	}
	return out
}

func (l List) encode() []byte {
	var b bytes.Buffer
	for _, run := range slices.Sorted(maps.Keys(l)) {
		b.Write(l[run].line())
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Merge returns the entries of both lists; of two entries for one run the newer change wins. The order of the lists
// makes no difference, so every clone arrives at the same list.
func (l List) Merge(other List) List {
	out := maps.Clone(l)
	if out == nil {
		out = make(List)
	}
	for run, e := range other {
		out[run] = newer(out[run], e)
	}
	return out
}

// newer chooses between two entries of one run. If two clones changed it at the same time, both changes have the
// same number: then the longer record wins, and after that the earlier change.
func newer(a, b *Entry) *Entry {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	c := cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Ops, b.Ops),
		cmp.Compare(b.At, a.At), bytes.Compare(a.line(), b.line()))
	if c < 0 {
		return b
	}
	return a
}

// Equal reports whether both lists have the same entries.
func (l List) Equal(other List) bool {
	return len(l) == len(other) && bytes.Equal(l.encode(), other.encode())
}

// Year returns the entries of one year.
func (l List) Year(year string) List {
	out := make(List)
	for run, e := range l {
		if e.Year() == year {
			out[run] = e
		}
	}
	return out
}

// Archived returns the entry of an archived run, nil when the run is not archived.
func (l List) Archived(run string) *Entry {
	if e := l[run]; e != nil && e.State == Archived {
		return e
	}
	return nil
}
