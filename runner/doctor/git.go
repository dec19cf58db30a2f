// Git itself, the repository, the identity, and what git sees of the governed files.

package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// wantGitMajor and wantGitMinor are the oldest git version that suffices for every command.
const wantGitMajor, wantGitMinor = 2, 34

func (d *doctor) git(ctx context.Context) {
	repo := d.rec.Repository()
	v, err := repo.Git.Version(ctx)
	switch {
	case err != nil:
		d.failed("git", err, "install git and make sure it is on PATH")
	case !v.AtLeast(wantGitMajor, wantGitMinor):
		d.add("git", LevelError, fmt.Sprintf("install git %d.%d or newer", wantGitMajor, wantGitMinor), "git is %s", v)
	case !v.AtLeast(2, 36):
		d.add("git", LevelNote, "", "git is %s: after a power cut the ref of a run may be empty; git syncs refs since 2.36", v)
	default:
		d.ok("git", "git is %s", v)
	}
	kind := "main work tree"
	if repo.GitDir != repo.CommonDir {
		kind = "linked work tree"
	}
	where := ""
	if repo.Prefix != "" {
		where = ", project in " + strings.TrimSuffix(repo.Prefix, "/")
	}
	d.ok("repository", "%s, object format %s, ref format %s%s", kind, repo.ObjectFormat, repo.RefFormat, where)
	if _, err := os.Stat(filepath.Join(repo.CommonDir, "shallow")); err == nil {
		d.add("repository", LevelNote,
			"", "the clone is shallow: a turn whose starting commit is not here cannot be observed (git fetch --unshallow)")
	}
	// The store keeps its cache beside git's own files.
	if err := writable(repo.GitDir); err != nil {
		d.add("repository", LevelError,
			cmp.Or(fail.WritableHint(repo.GitDir, err), "make it writable for the user who runs git agentxchain"),
			"the git directory cannot be written to: %v", err)
	}
}

// writable tries to write a file, which is the only sure test: a full disk still takes a name.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".agentxchain-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 16<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (d *doctor) identity(ctx context.Context) {
	name, email := d.r.Identity(ctx)
	// The store's stand-ins for what git has no value for.
	missing, fix := []string{}, []string{}
	if name == "agentxchain" {
		missing, fix = append(missing, "user.name"), append(fix, "git config --global user.name NAME")
	}
	if email == "agentxchain@localhost" {
		missing, fix = append(missing, "user.email"), append(fix, "git config --global user.email EMAIL")
	}
	d.signsCommits(ctx)
	if len(missing) == 0 {
		d.ok("identity", "operations are recorded as made by %s <%s>", name, email)
		return
	}
	d.add("identity", LevelWarning, strings.Join(fix, " && "),
		"git has no %s, so operations are recorded as %s <%s> and approvals do not say who gave them",
		strings.Join(missing, " and no "), name, email)
}

// signsCommits checks that git can sign commits where it is set to: otherwise every checkpoint would fail.
func (d *doctor) signsCommits(ctx context.Context) {
	if !d.rec.Repository().SettingBool(ctx, "commit.gpgsign") {
		return
	}
	for _, lack := range consent.Settings(ctx, d.rec.Dir()).Lacks(ctx) {
		d.add("identity", LevelWarning, lack.Command,
			"commit.gpgsign is set, and %s: no checkpoint can be committed", lack.What)
		return
	}
}

func (d *doctor) worktree(ctx context.Context) {
	repo := d.rec.Repository()
	st, err := gitstatus.Of(ctx, repo, repo.Prefix)
	if err != nil {
		fix := "git status"
		if len(repo.LockNotes()) > 0 { // a killed git may be why
			fix = "git agentxchain doctor --fix"
		}
		d.failed("repository", err, fix)
		return
	}
	if command, end := repo.UnderWay(); command != "" && len(st.Unmerged) == 0 {
		d.add("repository", LevelWarning, end,
			"a git %s is under way in the work tree: it has to end before a turn is assigned or committed", command)
	}
	if len(st.Unmerged) > 0 {
		d.add("repository", LevelError,
			"resolve it (git status shows how): no turn can be assigned or accepted until then",
			"a merge is unresolved in the work tree (%s)", wire.ListSome(st.Unmerged, 1))
	}
	if what, command := gitstore.LeftOut(ctx, repo); what != "" {
		d.add("repository", LevelWarning, command,
			"the sparse checkout leaves out %s, where gates look for documents and roles for their instructions", what)
	}
	switch {
	case st.Head == "":
		d.add("repository", LevelNote, "", "there is no commit yet; turns are observed against an empty tree")
	case st.Branch == "":
		d.add("repository", LevelNote,
			"", "HEAD is detached: checkpoints will belong to no branch (git switch BRANCH)")
	default:
		d.ok("repository", "on branch %s at %s", st.Branch, st.Head.Short())
	}
}

// stateProbes returns names of everything that must not be committed: what a run keeps in the work
// tree is a copy of its record, and short-lived.
func stateProbes() []string {
	var out []string
	for _, doc := range wire.Documents() {
		out = append(out, string(doc))
	}
	for _, l := range wire.Ledgers() {
		out = append(out, l.Path())
	}
	return append(out, wire.StagingPath("turn"), wire.BundleDir("turn")+"/PROMPT.md", wire.LockPath,
		".agentxchain/transactions/accept/turn.json")
}

// ignored asks git whether its ignore rules cover the governed files.
func (d *doctor) ignored(ctx context.Context) {
	open, err := d.notIgnored(ctx)
	if err != nil {
		d.failed("ignore", err, "git status")
		return
	}
	if len(open) == 0 {
		d.ok("ignore", "git ignores the working files of runs")
		return
	}
	have, err := projectfile.Read(d.rec.Dir(), ".gitignore", projectfile.MaxGate)
	if err != nil {
		d.failed("ignore", err, "make .gitignore a plain file")
		return
	}
	merged := scaffold.MergeIgnore(have)
	if bytes.Equal(have, merged) {
		d.add("ignore", LevelNote, "", "your own ignore rules let git see %s", wire.ListSome(open, 1))
		return
	}
	f := d.add("ignore", LevelWarning, "git agentxchain doctor --fix adds the missing lines to .gitignore",
		"git does not ignore %s: an agent that commits everything would commit the run's state",
		wire.ListSome(open, 1))
	if !d.fix {
		return
	}
	if info, err := os.Lstat(filepath.Join(d.rec.Dir(), ".gitignore")); err == nil && !info.Mode().IsRegular() {
		f.Fix = "add the lines by hand: .gitignore is not a plain file"
		return
	}
	if err := d.r.Alone(func(s *gitstore.Store) error { return s.Replace(".gitignore", merged) }); err != nil {
		d.failed("ignore", err, "make .gitignore writable")
		return
	}
	f.Mended, f.Fix = true, "added the missing lines to .gitignore"
}

func (d *doctor) notIgnored(ctx context.Context) ([]string, error) {
	probes := stateProbes()
	// By the rules alone: tracked handles files that are tracked despite them.
	covered, err := gitstatus.Ignored(ctx, d.rec.Repository(), probes, true)
	if err != nil {
		return nil, err
	}
	names := covered.Names()
	return slices.DeleteFunc(probes, func(p string) bool { return slices.Contains(names, p) }), nil
}

// hidden finds files of the project that git ignores and does not track: no clone would have them, and changes that
// turns make to them would go unseen.
func (d *doctor) hidden(ctx context.Context) {
	if d.out.View == nil || d.out.View.Config == nil {
		return
	}
	cfg := d.out.View.Config
	paths := []string{wire.ConfigPath}
	for _, phase := range cfg.Phases() {
		paths = append(paths, gates.Files(cfg, phase)...)
	}
	for _, p := range cfg.Prompts.All() {
		paths = append(paths, p)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		_, problem := wire.CleanPath(p)
		return problem != ""
	})
	slices.Sort(paths)
	found, err := gitstatus.Ignored(ctx, d.rec.Repository(), slices.Compact(paths), false)
	if err != nil {
		d.failed("ignore", err, "git status")
		return
	}
	if len(found) == 0 {
		return
	}
	fix := ""
	for _, f := range found {
		if _, err := os.Lstat(filepath.Join(d.rec.Dir(), f.Path)); err == nil {
			fix += " " + shellWord(f.Path)
		}
	}
	if fix != "" {
		fix = "git add -f --" + fix + "; or "
	}
	d.add("ignore", LevelWarning, fix+"remove the rule, because it hides other files too",
		"git ignores %s, by %s: no clone has them, and what a turn changes in them is not seen",
		wire.ListSome(found.Names(), 3), found[0].Rule)
}

// tracked finds governed files that were committed: two branches would then hold
// two states of one run, and a checkout would rewrite the ledgers.
func (d *doctor) tracked(ctx context.Context) {
	roots := []string{".agentxchain"}
	for _, p := range stateProbes() {
		if !strings.Contains(p, "/") {
			roots = append(roots, p)
		}
	}
	out, err := d.rec.Repository().Git.Run(ctx, nil, append([]string{"ls-files", "-z", "--"}, roots...)...)
	if err != nil {
		d.failed("ignore", err, "git ls-files")
		return
	}
	var found []string
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" && runFile(p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return
	}
	fix := "git rm --cached -- " + shellWord(found[0])
	if len(found) > 1 {
		fix += ", and so on for each"
	}
	d.add("ignore", LevelWarning, fix+" (the files stay on disk)",
		"git tracks %s: a checkout or merge would rewrite the run's files", wire.ListSome(found, 1))
}

// runFile reports whether a path is part of a run's state, not of the project.
func runFile(p string) bool {
	for _, dir := range []string{wire.StagingDir, ".agentxchain/dispatch", ".agentxchain/locks",
		".agentxchain/transactions"} {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return slices.Contains(stateProbes(), p)
}

// shellWord quotes s for a command a person may paste.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./+,:@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
