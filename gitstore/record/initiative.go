// The record of an initiative from elsewhere: its verification and its files
// (docs/coordinator.md#on-another-machine).

package record

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxInitiativeFiles bounds what one change may record.
const maxInitiativeFiles = 20000

// ofInitiative reports whether the record of an initiative may hold a file: those of the coordinator, under names
// that mean the same file on every system.
func ofInitiative(name string) bool {
	switch name {
	case initiative.ConfigFile, initiative.StatePath, initiative.BarriersPath, initiative.ReportPath:
		return true
	}
	if slices.Contains(initiative.Ledgers(), name) {
		return true
	}
	rest, ok := strings.CutPrefix(name, initiative.ContextDir+"/")
	if !ok {
		rest, ok = strings.CutPrefix(name, initiative.ReportArchive+"/")
	}
	parts := strings.Split(rest, "/")
	return ok && len(parts) <= 2 && !slices.ContainsFunc(parts, func(p string) bool {
		return !FileSafe(p) || strings.HasSuffix(p, ".") || git.DeviceName(p)
	})
}

// InitiativeFiles returns the files in a record of an initiative, by their paths in the workspace.
func InitiativeFiles(ctx context.Context, r *git.Repository, op object.OID) (map[string][]byte, error) {
	t := NewReader(ctx, r)
	c, err := t.Commit(op)
	if err != nil {
		return nil, err
	}
	oids, err := initiativeTree(t, c.Tree)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(oids))
	for name, oid := range oids {
		if files[name], err = t.Blob(oid); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// InitiativeFile returns one file in a record of an initiative, nil if it has none.
func InitiativeFile(ctx context.Context, r *git.Repository, op object.OID, path string) ([]byte, error) {
	t := NewReader(ctx, r)
	c, err := t.Commit(op)
	if err != nil {
		return nil, err
	}
	return fileOf(t, c, path)
}

// initiativeTree lists the files of a record; anything else in it is refused.
func initiativeTree(r *Reader, tree object.OID) (map[string]object.OID, error) {
	files := make(map[string]object.OID)
	var walk func(tree object.OID, dir string) error
	walk = func(tree object.OID, dir string) error {
		list, err := r.Entries(tree)
		if err != nil {
			return err
		}
		for _, e := range list {
			name := path.Join(dir, e.Name)
			switch {
			case e.IsTree():
				if strings.Count(name, "/") > 3 {
					return Malformed(tree, "%s is not a directory of an initiative", text.OneLine(name))
				}
				if err := walk(e.OID, name); err != nil {
					return err
				}
			case e.Mode != object.ModeFile || !ofInitiative(name):
				return Malformed(tree, "%s is not a file of an initiative", text.OneLine(name))
			case len(files) == maxInitiativeFiles:
				return Malformed(tree, "it holds more than %d files", maxInitiativeFiles)
			default:
				files[name] = e.OID
			}
		}
		return nil
	}
	return files, walk(tree, "")
}

// VerifyInitiative checks the changes of an initiative after since, "" for all, up to op against what the
// coordinator writes: a linear chain of commits that name the initiative and its state, ledgers that only grow, and
// a state, barriers and phase that the history supports. project is the id it must have, "" for any. It does not
// check what the repositories have accepted.
//
// Errors: record_unproven, run_foreign, and those of reading objects.
func VerifyInitiative(ctx context.Context, r *git.Repository, name string, op, since object.OID,
	project string) error {
	v := &initiativeCheck{r: NewReader(ctx, r), name: name, project: project, ends: history.ShallowCommits(r)}
	c, err := v.change(op)
	if err != nil {
		return err
	}
	if err := v.tip(c); err != nil {
		return err
	}
	for c != nil && c.op != since {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if c, err = v.step(c); err != nil {
			return err
		}
	}
	return nil
}

// initiativeCheck is a verification in progress.
type initiativeCheck struct {
	r             *Reader
	name, project string
	ends          map[object.OID]bool // where a shallow clone ends
}

// initiativeChange is one of its changes, with the files it recorded.
type initiativeChange struct {
	*object.Commit

	op    object.OID
	files map[string]object.OID
}

func (v *initiativeCheck) change(op object.OID) (*initiativeChange, error) {
	c, err := v.r.Commit(op)
	if err != nil {
		return nil, err
	}
	files, err := initiativeTree(v.r, c.Tree)
	if err != nil {
		return nil, v.refuse(op, "%s", text.OneLine(err.Error()))
	}
	return &initiativeChange{Commit: c, op: op, files: files}, nil
}

func (v *initiativeCheck) refuse(op object.OID, format string, args ...any) error {
	return fail.Errorf(CodeUnproven, nil, "change %s of initiative %s is not believed: %s", op.Short(),
		text.OneLine(v.name),
		fmt.Sprintf(format, args...)).WithHint("ask the person who pushed it; nothing of it was taken")
}

// step checks one change against its predecessor, which it returns, nil for none.
func (v *initiativeCheck) step(c *initiativeChange) (*initiativeChange, error) {
	if len(c.Parents) > 1 {
		return nil, v.refuse(c.op, "it has %d parents, and an initiative is one line", len(c.Parents))
	}
	state, err := v.file(c.files, initiative.StatePath)
	if err != nil {
		return nil, err
	}
	o, err := ojson.DecodeObject(state)
	switch {
	case Trailer(c.Message, TrailerRun) != v.name:
		return nil, v.refuse(c.op, "it does not name the initiative")
	case state == nil || Trailer(c.Message, TrailerState) != wire.Digest(state):
		return nil, v.refuse(c.op, "its state is not the one it was made with")
	case err != nil || o.String("super_run_id") != v.name:
		return nil, v.refuse(c.op, "its state belongs to another initiative")
	}
	if err := v.belongs(c.op, c.files); err != nil {
		return nil, err
	}
	if len(c.Parents) == 0 || v.ends[c.op] {
		return nil, nil
	}
	before, err := v.change(c.Parents[0])
	if err != nil {
		return nil, err
	}
	was, err := v.file(before.files, initiative.StatePath)
	if err != nil {
		return nil, err
	}
	// Otherwise a change could itself choose who may approve later ones.
	if old, err := ojson.DecodeObject(was); err == nil && old.String("authority_base") != o.String("authority_base") {
		return nil, v.refuse(c.op, "it changes authority_base, the commit at which signers are read")
	}
	return before, v.grows(c, before)
}

func (v *initiativeCheck) file(files map[string]object.OID, name string) ([]byte, error) {
	if files[name] == "" {
		return nil, nil
	}
	return v.r.Blob(files[name])
}

// belongs refuses a record of another project.
func (v *initiativeCheck) belongs(op object.OID, files map[string]object.OID) error {
	data, err := v.file(files, initiative.ConfigFile)
	if err != nil || data == nil || v.project == "" {
		return err
	}
	cfg, _, e := initiative.Decode(data)
	if e != nil {
		return v.refuse(op, "its %s cannot be read", initiative.ConfigFile)
	}
	if cfg.ProjectID != v.project {
		return fail.Errorf(CodeForeignRun, nil, "initiative %s belongs to project %s, this is %s",
			text.OneLine(v.name),
			text.OneLine(cfg.ProjectID),
			text.OneLine(v.project)).WithHint("ask the person who pushed it; nothing of it was taken")
	}
	return nil
}

// grows refuses a ledger that does not continue its predecessor.
func (v *initiativeCheck) grows(c, before *initiativeChange) error {
	for _, name := range initiative.Ledgers() {
		if before.files[name] == c.files[name] {
			continue
		}
		old, err := v.file(before.files, name)
		if err != nil {
			return err
		}
		now, err := v.file(c.files, name)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(now, old) {
			return v.refuse(c.op, "%s does not go on from the one before: rows are gone or were changed",
				path.Base(name))
		}
	}
	return nil
}

// tip checks that the newest state and barriers follow from the history.
func (v *initiativeCheck) tip(c *initiativeChange) (err error) {
	data := make(map[string][]byte)
	for _, name := range []string{initiative.StatePath, initiative.BarriersPath, initiative.HistoryPath,
		initiative.ConfigFile} {
		if data[name], err = v.file(c.files, name); err != nil {
			return err
		}
	}
	if why := initiative.Unfounded(data, v.name); why != "" {
		return v.refuse(c.op, "%s", why)
	}
	return nil
}

// InitiativeAsked returns the change with which a gate began to wait, at or before tip: the first of the latest
// series of changes whose state says that the gate was requested at that time. "" for none.
func InitiativeAsked(ctx context.Context, r *git.Repository, tip object.OID, requested string) (object.OID, error) {
	t := NewReader(ctx, r)
	asked := object.OID("")
	for op, left := tip, maxInitiativeSteps; op != "" && left > 0; left-- {
		c, err := t.Commit(op)
		if err != nil {
			return "", err
		}
		waits, err := requestedAt(t, c)
		if err != nil {
			return "", err
		}
		if waits != "" && waits == requested {
			asked = op
		} else if asked != "" {
			return asked, nil
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return asked, nil
}

// InitiativeRequest returns the request time of the gate that waits after a change, "" for none, and the history
// there.
func InitiativeRequest(ctx context.Context, r *git.Repository, op object.OID) (at string, rows []byte, err error) {
	t := NewReader(ctx, r)
	c, err := t.Commit(op)
	if err != nil {
		return "", nil, err
	}
	if at, err = requestedAt(t, c); err == nil {
		rows, err = fileOf(t, c, initiative.HistoryPath)
	}
	return at, rows, err
}

// InitiativeFirst returns a file of the first change up to tip that is here: the history is, for an initiative restored
// from an artifact, everything it brought.
func InitiativeFirst(ctx context.Context, r *git.Repository, tip object.OID, path string) ([]byte, error) {
	t, ends := NewReader(ctx, r), history.ShallowCommits(r)
	for op := tip; ; {
		c, err := t.Commit(op)
		if err != nil {
			return nil, err
		}
		if len(c.Parents) == 0 || ends[op] {
			return fileOf(t, c, path)
		}
		op = c.Parents[0]
	}
}

func fileOf(t *Reader, c *object.Commit, path string) ([]byte, error) {
	e, found, err := t.Lookup(c.Tree, path)
	if err != nil || !found {
		return nil, err
	}
	return t.Blob(e.OID)
}

func requestedAt(t *Reader, c *object.Commit) (string, error) {
	data, err := fileOf(t, c, initiative.StatePath)
	if err != nil || data == nil {
		return "", err
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return "", nil // what cannot be read says nothing
	}
	return o.Object("pending_gate").String("requested_at"), nil
}

// InitiativeAt returns the newest change of an initiative and the one with these files: an older one if they are
// late, "" if they were changed or nothing is recorded.
func InitiativeAt(ctx context.Context, r *git.Repository, in Initiative) (tip, at object.OID, err error) {
	tip, err = r.ReadRef(ctx, InitiativeRefPrefix+in.Run)
	if err != nil || tip == "" {
		return "", "", err
	}
	at, err = InitiativeChange(ctx, r, tip, in.Files)
	return tip, at, err
}

// InitiativeChange returns the newest change at or before tip that left these files, "" for none.
func InitiativeChange(ctx context.Context, r *git.Repository, tip object.OID, files map[string][]byte) (object.OID,
	error) {
	t, have := NewReader(ctx, r), tellingOf(r, files)
	for op, left := tip, maxInitiativeSteps; op != "" && left > 0; left-- {
		c, err := t.Commit(op)
		if err != nil {
			return "", err
		}
		if same, err := leaves(t, c, have); err != nil || same {
			return op, err
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return "", nil
}

// InitiativeGivenUp returns the change with these files that this side has given up for another one, "" for none:
// the command was killed before it had updated the files.
func InitiativeGivenUp(ctx context.Context, r *git.Repository, in Initiative) (object.OID, error) {
	lost, err := r.Tips(ctx, LostRefPrefix+InitiativeNames+in.Run+"/")
	if err != nil || len(lost) == 0 {
		return "", err
	}
	t, have := NewReader(ctx, r), tellingOf(r, in.Files)
	for _, op := range lost {
		c, err := t.Commit(op)
		if err != nil {
			return "", err
		}
		if same, err := leaves(t, c, have); err != nil || same {
			return op, err
		}
	}
	return "", nil
}

// telling returns the documents and ledgers that identify a change. Contexts and reports beside them may be the
// beginning of a killed command's work.
func telling() []string {
	return append(initiative.Ledgers(), initiative.BarriersPath, initiative.StatePath)
}

func tellingOf(r *git.Repository, files map[string][]byte) map[string]object.OID {
	have := make(map[string]object.OID)
	for _, name := range telling() {
		if data, ok := files[name]; ok {
			have[name] = object.Hash(r.ObjectFormat, object.KindBlob, data)
		}
	}
	return have
}

// leaves reports whether a change left those files.
func leaves(t *Reader, c *object.Commit, have map[string]object.OID) (bool, error) {
	for _, name := range telling() {
		if e, _, err := t.Lookup(c.Tree, name); err != nil || e.OID != have[name] {
			return false, err
		}
	}
	return true, nil
}

// InitiativeHolds reports whether an initiative of this repository recorded the file with this content. known
// reports whether there are initiatives at all.
func InitiativeHolds(ctx context.Context, r *git.Repository, name string, content object.OID) (held, known bool,
	err error) {
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--format=%(objectname)", InitiativeRefPrefix)
	if err != nil {
		return false, false, err
	}
	t := NewReader(ctx, r)
	for line := range strings.Lines(string(out)) {
		known = true
		for op, left := object.OID(strings.TrimSpace(line)), maxInitiativeSteps; op != "" && left > 0; left-- {
			c, err := t.Commit(op)
			if err != nil {
				return false, true, err
			}
			e, ok, err := t.Lookup(c.Tree, name)
			if err != nil || ok && e.OID == content {
				return ok, true, err
			}
			if op = ""; len(c.Parents) > 0 {
				op = c.Parents[0]
			}
		}
	}
	return false, known, nil
}

// maxInitiativeSteps bounds how far back an initiative's files are searched.
const maxInitiativeSteps = 5000

// FileSafe reports whether an id can be a file name.
func FileSafe(id string) bool {
	return id != "" && len(id) <= 200 && id[0] != '.' && !strings.ContainsFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' ||
			c == '.')
	})
}
