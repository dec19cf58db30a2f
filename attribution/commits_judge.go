// Compares commits with what turns did.

package attribution

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// judge judges one range.
type judge struct {
	ctx      context.Context
	repo     *git.Repository
	asked    string // the range as requested
	past     *record.Past
	book     *book
	cut      map[object.OID]bool // where a shallow clone ends
	byPath   map[string][]*work
	chained  map[string][]composite
	shas     map[object.OID]string // fingerprints of contents, "" when they are missing
	texts    map[object.OID]string // contents to be merged
	used     map[useKey]bool       // accepted files that a commit of the range has brought
	before   map[string]map[object.OID]bool
	approved map[string][]string // fingerprints of approved documents by path
	out      *Range
}

type useKey struct {
	turn *Turn
	path string
}

// sums returns the fingerprints that a content may have in a work tree: as it is, and with the line ends of a
// checkout with carriage returns.
func sums(data []byte) string {
	out := wire.Digest(data)
	if bytes.IndexByte(data, '\r') < 0 && bytes.IndexByte(data, '\n') >= 0 {
		out += " " + wire.Digest(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	}
	return out
}

// has reports whether a blob matches a fingerprint.
func (j *judge) has(id object.OID, mark string) bool {
	return mark != "" && slices.Contains(strings.Fields(j.shas[id]), mark)
}

func (j *judge) judge() error {
	j.cut = history.ShallowCommits(j.repo)
	j.chained = make(map[string][]composite)
	if err := j.openMerges(); err != nil {
		return err
	}
	if err := j.readWorks(); err != nil {
		return err
	}
	each := func(f func(c *RangeCommit, f *RangeFile)) {
		for _, c := range j.out.Commits {
			for _, x := range c.Files {
				if x.How == "" {
					f(c, x)
				}
			}
		}
	}
	each(j.exactly)
	if err := j.readTexts(); err != nil {
		return err
	}
	each(j.merged)
	j.split()
	if err := j.readBefore(); err != nil {
		return err
	}
	each(func(_ *RangeCommit, f *RangeFile) { j.byContent(f) })
	for _, c := range j.out.Commits {
		j.conclude(c)
	}
	return nil
}

// exactly accounts for a change that turns made themselves.
func (j *judge) exactly(c *RangeCommit, f *RangeFile) {
	for _, w := range j.byPath[f.Path] {
		if !w.known || w.entry != f.entry {
			continue
		}
		f.How, f.Turns = FileExact, []*Turn{w.turn}
		if w.turn.commitOf(f.Path) == c.OID {
			f.How = FileCheckpoint
			return
		}
	}
	if f.How != "" {
		return
	}
	for _, k := range j.chains(f.Path) {
		if k.entry == f.entry {
			f.How, f.Turns = FileExact, k.turns()
			return
		}
	}
}

// carried reports whether a change may be a composite applied to another version of the file.
func carried(f *RangeFile, k *composite) bool {
	return f.old != "" && f.new != "" && k.old != "" && k.new != "" && f.regular() && k.regular() &&
		f.oldMode == f.newMode && k.oldMode == k.newMode
}

// readTexts reads the contents that merged and split compare.
func (j *judge) readTexts() error {
	wanted := make(map[object.OID]bool)
	for _, c := range j.out.Commits {
		for _, f := range c.Files {
			if f.How != "" {
				continue
			}
			for _, k := range j.tries(c, f) {
				for _, id := range []object.OID{f.old, f.new, k.old, k.new} {
					if id != "" {
						wanted[id] = true
					}
				}
			}
		}
	}
	var names []string
	for id := range wanted {
		names = append(names, string(id))
	}
	slices.Sort(names)
	j.texts = make(map[object.OID]string)
	kept := 0
	return j.repo.ReadNamed(j.ctx, names, func(i int, o git.Named) {
		if kept += len(o.Data); o.Found && o.Kind == object.KindBlob && kept < maxKept {
			j.texts[object.OID(names[i])] = string(o.Data)
		}
	})
}

// merged accounts for a change that is a turn's, applied to another version of the file as a rebase or a
// cherry-pick does: it contains nothing that a merge would not bring.
func (j *judge) merged(c *RangeCommit, f *RangeFile) {
	ours, ok1 := j.texts[f.old]
	now, ok2 := j.texts[f.new]
	if !ok1 || !ok2 {
		return
	}
	for _, k := range j.tries(c, f) {
		if !carried(f, &k) {
			continue
		}
		base, ok1 := j.texts[k.old]
		theirs, ok2 := j.texts[k.new]
		if !ok1 || !ok2 {
			continue
		}
		if got, ok := merge3(base, ours, theirs); ok && got == now {
			f.How, f.Turns = FileMerged, k.turns()
			return
		}
	}
}

// split accounts for changes of one file that together are a turn's, when each brings nothing else: the turn also
// added or removed every line that one of them adds or removes.
func (j *judge) split() {
	open := make(map[string][]*RangeFile)
	tries := make(map[string][]composite)
	for _, c := range j.out.Commits {
		for _, f := range c.Files {
			if len(c.Parents) < 2 && f.How == "" && len(j.byPath[f.Path]) > 0 {
				open[f.Path] = append(open[f.Path], f)
				tries[f.Path] = append(tries[f.Path], j.tries(c, f)...)
			}
		}
	}
	for path, list := range open {
		for i := range list {
			if list[i].How != "" {
				continue
			}
			for _, k := range tries[path] {
				if k.old != list[i].old || k.oldMode != list[i].oldMode {
					continue
				}
				end := i
				for end+1 < len(list) && list[end].new != k.new && list[end+1].old == list[end].new {
					end++
				}
				if list[end].new == k.new && list[end].newMode == k.newMode && j.partsOf(list[i:end+1], &k) {
					for _, f := range list[i : end+1] {
						f.How, f.Turns = FileSplit, k.turns()
					}
					break
				}
			}
		}
	}
}

// partsOf reports whether the lines that some changes add and remove are together exactly those of the composite.
func (j *judge) partsOf(parts []*RangeFile, k *composite) bool {
	count := make(map[string]int)
	add := func(old, new object.OID, n int) bool {
		before, ok1 := j.texts[old]
		after, ok2 := j.texts[new]
		if old != "" && !ok1 || new != "" && !ok2 {
			return false
		}
		b, a := fedLines(before), fedLines(after)
		hunks, ok := difference(b, a)
		for _, h := range hunks {
			for _, l := range b[h.from : h.from+h.gone] {
				count["-"+l] += n
			}
			for _, l := range a[h.at : h.at+h.come] {
				count["+"+l] += n
			}
		}
		return ok
	}
	if !add(k.old, k.new, 1) {
		return false
	}
	for _, f := range parts {
		if !f.regular() || !add(f.old, f.new, -1) {
			return false
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// maxNamed is how many paths one command line names.
const maxNamed = 500

// readBefore lists the earlier contents, up to the base, of the files that only a mark can account for: contents
// that existed before are restored, not brought.
func (j *judge) readBefore() error {
	j.before = make(map[string]map[object.OID]bool)
	for _, c := range j.out.Commits {
		for _, f := range c.Files {
			if signs, sure := j.signs(f); f.How == "" && f.new != "" && (signs && !sure || j.candidate(f) != nil) {
				j.before[f.Path] = make(map[object.OID]bool)
			}
		}
	}
	paths := slices.Sorted(maps.Keys(j.before))
	if len(paths) == 0 || len(j.cut) > 0 {
		return nil
	}
	args := []string{"log", "-z", "--raw", "-m", "--root", "--no-abbrev", "--no-renames", "--no-relative",
		"--no-show-signature", "--no-color", "--format=tformat:", string(j.out.Base), "--"}
	at := j.repo.Git // which takes paths literally, and from where it works
	if j.repo.TopLevel != "" {
		at = at.In(j.repo.TopLevel)
	}
	if len(paths) <= maxNamed {
		args = append(args, paths...)
	}
	out, err := at.Run(j.ctx, nil, args...)
	if err != nil {
		return err
	}
	tokens := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(tokens); i++ {
		token := string(bytes.TrimLeft(tokens[i], "\n"))
		if token == "" || token[0] != ':' {
			continue
		}
		e, err := parseEntry(token)
		if err != nil {
			return err
		}
		i++
		if seen := j.before[string(tokens[i])]; seen != nil {
			seen[e.new] = true
		}
	}
	return nil
}

// candidate returns the newest turn, among those whose own commit is not in this clone, that left the file as a
// change leaves it; nil for none.
func (j *judge) candidate(f *RangeFile) *work {
	if !f.regular() {
		return nil
	}
	for _, w := range slices.Backward(j.byPath[f.Path]) {
		m, _ := w.turn.mark(f.Path)
		if f.old != "" && j.has(f.old, m) {
			return nil // this turn's state is left for another: going back is not its work
		}
		if w.commit == "" && (f.new == "" && m == gitstore.FingerprintDeleted || f.new != "" && j.has(f.new, m)) {
			return w
		}
	}
	return nil
}

// byContent accounts for a change that leaves the file as accepted for a turn whose own commit is gone, as after a
// squash on a server. Each accepted file counts once, and only where it did not exist before.
func (j *judge) byContent(f *RangeFile) {
	signs, sure := j.signs(f)
	w := j.candidate(f)
	fresh := len(j.cut) == 0 && !j.before[f.Path][f.new]
	switch {
	case signs && (sure || fresh && (w == nil || j.used[useKey{w.turn, f.Path}])):
		f.How = FileApproval // unchanged work of a turn that people approved counts as the turn's
		return
	case w == nil:
		return
	case len(j.cut) > 0:
		f.Why = "the turn's own commit is not in this shallow clone; git fetch --unshallow may bring it"
		return
	case j.before[f.Path][f.new], j.used[useKey{w.turn, f.Path}]:
		f.Why = "it was there before, and is put back"
		return
	}
	j.used[useKey{w.turn, f.Path}] = true
	f.How, f.Turns = FileContent, []*Turn{w.turn}
}

// conclude determines the kind of a commit, once its files are judged.
func (j *judge) conclude(c *RangeCommit) {
	for _, id := range c.Named {
		if t := j.book.byID[id]; t != nil && !t.Active() {
			c.claimed = append(c.claimed, t)
		}
	}
	c.Named = slices.DeleteFunc(c.Named, func(id string) bool {
		t := j.book.byID[id]
		return t != nil && !t.Active()
	})
	var foreign []string
	for _, f := range c.Files {
		if rests(f.Path) {
			c.Protected = append(c.Protected, f.Path)
		}
		if f.How == "" {
			foreign = append(foreign, f.Path)
		}
		for _, t := range f.Turns {
			if !slices.Contains(c.Turns, t) {
				c.Turns = append(c.Turns, t)
			}
		}
	}
	slices.SortStableFunc(c.Turns, func(a, b *Turn) int {
		return cmp.Or(strings.Compare(a.Run, b.Run), a.accepted-b.accepted)
	})
	merge := len(c.Parents) > 1
	switch {
	case c.Why != "":
		c.Kind = CommitUnaccounted
	case merge && len(foreign) == 0:
		c.Kind = CommitMerge
	case len(c.Files) > 0 && len(foreign) == 0 && len(c.Turns) == 0:
		c.Kind = CommitApproval
	case len(c.Files) > 0 && len(foreign) == 0:
		c.Kind = CommitTurn
	case merge:
		c.Kind = CommitUnaccounted
		c.Why = "the merge itself changes " + some(foreign)
	case len(c.Turns) > 0:
		c.Kind = CommitUnaccounted
		c.Why = fmt.Sprintf("besides the work of turn %s it changes %s", c.Turns[0].ID, some(foreign))
	case len(c.Files) == 0 && slices.ContainsFunc(c.claimed, func(t *Turn) bool { return t.checkpoint == c.OID }):
		c.Kind, c.Turns = CommitTurn, c.claimed
	case len(c.claimed) > 0 && len(c.Files) == 0:
		c.Kind = CommitUnaccounted
		c.Why = fmt.Sprintf("it names turn %s and changes nothing", c.claimed[0].ID)
	case len(c.claimed) > 0:
		c.Kind = CommitUnaccounted
		c.Why = fmt.Sprintf("it names turn %s, whose accepted work differs in %s", c.claimed[0].ID,
			some(foreign))
	case len(c.Named) > 0:
		c.Kind = CommitUnaccounted
		c.Why = fmt.Sprintf("it names turn %s, which no run recorded here has accepted", c.Named[0])
	default:
		c.Kind = CommitPerson
	}
}

// some names the first few files.
func some(list []string) string {
	if len(list) <= 3 {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more files", strings.Join(list[:3], ", "), len(list)-3)
}
