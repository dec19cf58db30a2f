// git's settings in a repository while an agent is at work: noted when its turn begins, compared when it has ended.

package tamper

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CodeGitTampered means that git's configuration, hooks or refs were changed while an
// agent was at work.
const CodeGitTampered = "git_tampered"

// Watch watches git's settings in one work tree, for the turns being carried out there.
type Watch struct {
	repo *git.Repository
	work *workdir.Dir
	dir  string // holds the notes of these turns
	now  func() time.Time
}

// NewWatch returns the watch over a repository and its working files. Its notes are in dir, in the git directory of
// the work tree.
func NewWatch(r *git.Repository, work *workdir.Dir, dir string, now func() time.Time) *Watch {
	return &Watch{repo: r, work: work, dir: dir, now: now}
}

// Note describes git's settings when a turn was handed to its agent.
type Note struct {
	Turn string

	owner  git.LockOwner
	files  map[string]watched // by absolute path
	refs   map[string]object.OID
	branch string            // the ref of HEAD, "" when it was detached
	hidden map[string]string // path in the index -> its flag: S skip-worktree, h assume-unchanged
	hooks  string            // the hooks directory
}

// watched is the earlier state of a file.
type watched struct {
	kind string // file, link, dir, other, or none
	mode fs.FileMode
	data []byte // content of a file; target of a link
	conf bool   // it is a git configuration file
}

// Limits of a note. Exceeding them is an error: the turn is not dispatched.
const (
	maxWatchedFile  = 4 << 20
	maxWatchedTotal = 64 << 20
	maxWatchedFiles = 5000
	maxWatchedDepth = 8
	maxNote         = 128 << 20
)

func (s *Watch) path(turn string) string {
	return filepath.Join(s.dir, turn+".json")
}

// Take notes git's current settings and keeps the note durably, until Forget. The notes of other turns in progress
// must still hold (git_tampered): otherwise a change by an agent already at work would count as original.
func (s *Watch) Take(ctx context.Context, turn string) (*Note, error) {
	if !record.SafeName(turn) {
		return nil, fail.Errorf(fail.CodeGitFailed, nil, "%q cannot be part of a file name", turn)
	}
	d, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	d.Turn, d.owner = turn, git.NewOwner("dispatch")
	d.owner.Acquired = s.now()
	others, err := s.notes()
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if t := other.compareFiles(d); other.Turn != turn && len(t.Changes) > 0 {
			return nil, fail.Errorf(CodeGitTampered, nil,
				"while the agent of turn %s is at work git's configuration was changed: %s", other.Turn, t).
				WithHint("end that turn; what was changed is then put back")
		}
	}
	// The configuration in it may hold credentials.
	if err := git.WriteShared(s.path(turn), d.encode(), 0o600); err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return d, nil
}

// Left returns the note of a turn whose process was killed before it concluded the turn; nil when there is none.
func (s *Watch) Left(turn string) (*Note, error) {
	all, err := s.notes()
	for _, d := range all {
		if d.Turn == turn {
			return d, err
		}
	}
	return nil, err
}

// notes reads all notes of this work tree.
func (s *Watch) notes() ([]*Note, error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be read")
	}
	var out []*Note
	for _, e := range list {
		turn, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !record.SafeName(turn) {
			continue
		}
		data, err := git.ReadBounded(filepath.Join(s.dir, e.Name()), maxNote)
		if err != nil {
			return nil, fail.Errorf(CodeGitTampered, err, "what was noted for turn %s cannot be read", turn)
		}
		d, ok := decodeNote(data)
		if !ok || d.Turn != turn {
			return nil, fail.Errorf(CodeGitTampered, nil, "what was noted for turn %s is not what this program wrote",
				turn)
		}
		out = append(out, d)
	}
	return out, nil
}

// look reads git's current settings.
func (s *Watch) look(ctx context.Context) (*Note, error) {
	hooks, err := s.repo.HooksDir(ctx)
	if err != nil {
		return nil, err
	}
	d, err := s.lookFiles(hooks)
	if err != nil {
		return nil, err
	}
	return d, s.lookRefs(ctx, d)
}

// lookFiles reads the part that needs no git.
func (s *Watch) lookFiles(hooks string) (*Note, error) {
	d := &Note{files: make(map[string]watched), hidden: make(map[string]string), hooks: hooks}
	r := s.repo
	scope := &git.LocalScope{GitDir: r.GitDir, CommonDir: r.CommonDir}
	reader := git.ConfigReader{Left: git.MaxConfigFiles}
	for _, f := range scope.Files() {
		reader.File(f, 0)
	}
	if m := filepath.Join(r.CommonDir, "modules"); git.IsDir(m) {
		reader.Modules(m, 0)
	}
	w := watcher{files: d.files}
	for _, f := range reader.Files {
		w.look(f, maxWatchedDepth)
		e := d.files[f]
		e.conf = true
		d.files[f] = e
	}
	for _, f := range []string{"hooks", "info", "objects/info/alternates", "objects/info/http-alternates", "shallow"} {
		w.look(filepath.Join(r.CommonDir, f), 0)
	}
	w.look(filepath.Join(r.GitDir, "info"), 0)
	if r.GitDir != r.CommonDir {
		for _, f := range []string{filepath.Join(r.GitDir, "commondir"), filepath.Join(r.GitDir, "gitdir"),
			filepath.Join(r.TopLevel, ".git")} {
			w.look(f, maxWatchedDepth)
		}
	}
	if !s.ownHooks(hooks) {
		w.look(hooks, maxWatchedDepth-2)
	}
	return d, w.err
}

// ownHooks reports whether the hooks are files of the project: an agent may change them like everything else in the
// work tree, and is judged for it.
func (s *Watch) ownHooks(hooks string) bool {
	return git.Inside(s.repo.TopLevel, hooks) && !git.Inside(s.repo.CommonDir, hooks)
}

// lookRefs asks git about refs and the index.
func (s *Watch) lookRefs(ctx context.Context, d *Note) error {
	refs, err := s.repo.ListRefs(ctx, "refs/")
	if err != nil {
		return err
	}
	d.refs = make(map[string]object.OID, len(refs))
	for _, ref := range refs {
		d.refs[ref.Name] = ref.OID
	}
	head, err := s.repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.ExitCode(err) != 1 {
		return err
	}
	d.branch = strings.TrimSpace(string(head))
	out, err := s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	d.hidden = gitstatus.FlaggedEntries(out)
	return nil
}

// watcher reads files into a map.
type watcher struct {
	files map[string]watched
	total int64
	err   error
}

// look reads a path and, down to a depth, everything below it.
func (w *watcher) look(name string, depth int) {
	if _, seen := w.files[name]; seen || w.err != nil {
		return
	}
	e, err := lookAt(name)
	if err != nil {
		w.err = fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined",
			name).WithHint("look at what it is, and move it elsewhere")
		return
	}
	w.files[name] = e
	if w.total += int64(len(e.data)); w.total > maxWatchedTotal || len(w.files) > maxWatchedFiles {
		w.err = fail.Errorf(fail.CodeUnreadable, nil, "git's hooks and configuration are too large to watch (%s)",
			name).
			WithHint("move what is not a hook out of the directory")
		return
	}
	dir := name
	if e.kind == "link" {
		dir = git.RealOr(name)
	}
	if e.kind != "dir" && (e.kind != "link" || !git.IsDir(dir)) {
		if e.kind == "link" && dir != name {
			w.look(dir, depth+1) // a hook may be a link to a script elsewhere
		}
		return
	}
	if depth >= maxWatchedDepth {
		return
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		w.err = fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", dir)
		return
	}
	if dir != name {
		w.look(dir, depth+1)
	}
	for _, f := range list {
		if !strings.HasSuffix(f.Name(), ".sample") {
			w.look(filepath.Join(dir, f.Name()), depth+1)
		}
	}
}

// lookAt reads one file; one that is too long to restore is identified by its size.
func lookAt(name string) (watched, error) {
	fi, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || git.IsNotDir(err) {
		return watched{kind: "none"}, nil
	}
	if err != nil {
		return watched{}, err
	}
	e := watched{mode: fi.Mode().Perm()}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		e.kind, e.mode, e.data = "link", 0, []byte(to)
		return e, err
	case fi.IsDir():
		e.kind = "dir"
	case !fi.Mode().IsRegular() || fi.Size() > maxWatchedFile:
		e.kind = "other"
	default:
		e.kind = "file"
		e.data, err = git.ReadConfigFile(name)
	}
	return e, err
}

func (d *Note) encode() []byte {
	files := ojson.NewObject()
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		e := d.files[name]
		files.Set(name, ojson.NewObject("kind", e.kind, "mode", int(e.mode), "config", e.conf,
			"data", base64.StdEncoding.EncodeToString(e.data)))
	}
	refs, hidden := ojson.NewObject(), ojson.NewObject()
	for _, name := range slices.Sorted(maps.Keys(d.refs)) {
		refs.Set(name, string(d.refs[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.hidden)) {
		hidden.Set(base64.StdEncoding.EncodeToString([]byte(name)), d.hidden[name])
	}
	return ojson.Pretty(ojson.NewObject("turn_id", d.Turn, "owner", string(d.owner.Encode()), "branch", d.branch,
		"hooks", d.hooks,
		"files", files, "refs", refs, "hidden", hidden))
}

func decodeNote(data []byte) (*Note, bool) {
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, false
	}
	d := &Note{
		Turn:   o.String("turn_id"),
		branch: o.String("branch"),
		hooks:  o.String("hooks"),
		files:  make(map[string]watched),
		refs:   make(map[string]object.OID),
		hidden: make(map[string]string),
	}
	owner, err := ojson.DecodeObject([]byte(o.String("owner")))
	if err != nil {
		return nil, false
	}
	d.owner, _ = git.DecodeOwner(owner)
	for name := range o.Object("files").All() {
		e := o.Object("files").Object(name)
		mode, _ := e.Int("mode")
		content, err := base64.StdEncoding.DecodeString(e.String("data"))
		if err != nil || e.String("kind") == "" {
			return nil, false
		}
		d.files[name] = watched{
			kind: e.String("kind"),
			mode: fs.FileMode(mode) & fs.ModePerm,
			data: content,
			conf: e.Bool("config"),
		}
	}
	for name := range o.Object("refs").All() {
		d.refs[name] = object.OID(o.Object("refs").String(name))
	}
	for name := range o.Object("hidden").All() {
		path, err := base64.StdEncoding.DecodeString(name)
		if err != nil {
			return nil, false
		}
		d.hidden[string(path)] = o.Object("hidden").String(name)
	}
	return d, o.Has("files") && o.Has("refs") && o.Has("hidden")
}

// alive reports whether the process that wrote the note may still conclude the turn.
func (d *Note) alive() bool { return !d.owner.Dead() }
