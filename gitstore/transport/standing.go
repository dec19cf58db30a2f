// How a run here relates to what was last seen of it on remotes. Nothing is fetched.

package transport

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Standing is how a run, or an initiative, relates to a remote.
type Standing struct {
	Remote string
	Ahead  int       // operations missing there, as far as known here
	Behind int       // operations there that are missing here
	Since  time.Time // time of the newest common operation; set when both continued
}

// Object returns the standing for --json: {remote, ahead, behind, diverged_since}.
func (m Standing) Object() *ojson.Object {
	o := ojson.NewObject("remote", m.Remote, "ahead", m.Ahead, "behind", m.Behind, "diverged_since", nil)
	if !m.Since.IsZero() {
		o.Set("diverged_since", wire.FormatTime(m.Since))
	}
	return o
}

// Standings returns the standing for every remote from which a record of the run was fetched. It starts one git
// process, and one more for each remote that differs.
func Standings(ctx context.Context, repo *git.Repository, run string, tip object.OID) ([]Standing, error) {
	return remoteStandings(ctx, repo, TrackingPrefix, run, tip)
}

// InitiativeStandings returns the standings of an initiative that is recorded here, nothing for another one.
func InitiativeStandings(ctx context.Context, repo *git.Repository, name string) ([]Standing, error) {
	tip, err := repo.ReadRef(ctx, record.InitiativeRefPrefix+name)
	if err != nil || tip == "" {
		return nil, err
	}
	return remoteStandings(ctx, repo, TrackingInitiatives, name, tip)
}

func remoteStandings(ctx context.Context, repo *git.Repository, space func(remote string) string, run string,
	tip object.OID,
) ([]Standing, error) {
	names := trackingNames(repo, space, run)
	if len(names) == 0 {
		return nil, nil
	}
	out, err := repo.Git.Run(ctx, nil,
		append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, names...)...)
	if err != nil {
		return nil, err
	}
	var all []Standing
	for line := range strings.Lines(string(out)) {
		oid, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		name = strings.TrimPrefix(name, TrackingRefs)
		st := Standing{Remote: name[:strings.Index(name, "/agentxchain/")]}
		if there := object.OID(oid); there != tip {
			if err := apart(ctx, repo, &st, tip, there); err != nil {
				return nil, err
			}
		}
		all = append(all, st)
	}
	return all, nil
}

// trackingNames returns the tracking refs that a run would have for the remotes of this repository; space returns a
// remote's prefix. With a pattern over all remotes git would walk the runs of each; the remotes are known without
// starting git, unless the configuration is spread over several files.
func trackingNames(repo *git.Repository, space func(remote string) string, run string) []string {
	var names []string
	for _, e := range localConfig(repo) {
		if strings.HasPrefix(e.Key, "include") {
			return []string{space("*") + run}
		}
		rest, ok := strings.CutPrefix(e.Key, "remote.")
		if i := strings.LastIndexByte(rest, '.'); ok && i > 0 {
			if name := space(rest[:i]) + run; git.SafeRefName(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// localConfig returns the entries of this repository's own configuration, none when it cannot be read.
func localConfig(repo *git.Repository) []gitconfig.Entry {
	data, err := os.ReadFile(filepath.Join(repo.CommonDir, "config"))
	if err != nil {
		return nil
	}
	entries, _ := gitconfig.Parse(data)
	return entries
}

// apart counts the operations of both sides. It counts none if there is something other than an operation: sync
// says what to do about it.
func apart(ctx context.Context, repo *git.Repository, st *Standing, here, there object.OID) error {
	out, err := repo.Git.Run(ctx, nil, "rev-list", "--left-right", "--count", string(here)+"..."+string(there), "--")
	if err != nil {
		if repo.NoCommit(ctx, there) {
			return nil
		}
		return err
	}
	f := strings.Fields(string(out))
	if len(f) != 2 {
		return fail.Errorf(fail.CodeGitFailed, nil, "git rev-list answered in a form that is not understood")
	}
	st.Ahead, _ = strconv.Atoi(f[0])
	st.Behind, _ = strconv.Atoi(f[1])
	if st.Ahead == 0 || st.Behind == 0 {
		return nil
	}
	base, err := history.MergeBase(ctx, repo, here, there)
	if err != nil || base == "" {
		return err
	}
	c, err := record.NewReader(ctx, repo).Commit(base)
	if err == nil {
		st.Since = c.Author.When
	}
	return err
}

// Elsewhere returns what is known about runs on remotes, for a clone that has none: the run of a tracking ref and
// its remote, or a remote whose runs were never fetched. A run whose newest operation
// not accepts does not count.
func Elsewhere(ctx context.Context, repo *git.Repository, not func(op object.OID) bool) (run, remote string, err error) {
	out, err := repo.Git.Run(ctx, nil, "for-each-ref", "--sort=-creatordate", "--format=%(objectname) %(refname)",
		TrackingRefs+"*/agentxchain/runs/*")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(out)) {
		op, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if not == nil || !not(object.OID(op)) {
			remote, run, _ = strings.Cut(strings.TrimPrefix(name, TrackingRefs), "/agentxchain/runs/")
			return run, remote, nil
		}
	}
	all, err := Remotes(ctx, repo)
	if err != nil || len(all) == 0 {
		return "", "", err
	}
	for _, remote := range all {
		specs, _ := repo.Git.Run(ctx, nil, "config", "--get-all", "remote."+remote+".fetch")
		if slices.Contains(strings.Split(string(specs), "\n"), runRefspecs(remote)[0]) {
			return "", "", nil // they were fetched, or git fetch fetches them
		}
	}
	return "", all[0], nil
}

// Ask asks the remotes for their runs, and stops at the first that has some. silent lists the remotes that did not
// answer.
func Ask(ctx context.Context, repo *git.Repository) (runs []string, remote string, silent []string, err error) {
	all, err := Remotes(ctx, repo)
	if err != nil {
		return nil, "", nil, err
	}
	within, stop := Within(ctx, AskLimit)
	defer stop()
	for _, remote := range all {
		refs, err := List(within, repo.Git.Transport(), repo.ObjectFormat, remote, git.RunRefPrefix)
		if ctx.Err() != nil {
			return nil, "", nil, err
		}
		if err != nil {
			silent = append(silent, remote)
		}
		for _, ref := range refs {
			runs = append(runs, strings.TrimPrefix(ref.Name, git.RunRefPrefix))
		}
		if len(runs) > 0 {
			return runs, remote, nil, nil
		}
	}
	return nil, "", silent, nil
}

// Values of agentxchain.sync.
const (
	SyncManual = "manual" // only git agentxchain sync contacts the remote
	SyncAuto   = "auto"   // every operation is pushed in the background
	SyncStrict = "strict" // the remote decides: an operation is done when the remote has accepted it
)

// SyncMode reads agentxchain.sync of this repository without starting git, because every operation asks. It is ""
// when nothing is set; an unknown value is manual.
func SyncMode(repo *git.Repository) string {
	mode := ""
	for _, e := range localConfig(repo) {
		if strings.EqualFold(e.Key, "agentxchain.sync") {
			mode = strings.ToLower(e.Value)
		}
	}
	switch mode {
	case "", SyncAuto, SyncStrict:
		return mode
	}
	return SyncManual
}

// BackgroundRemote returns the remote to which operations recorded here are pushed in the background, "" for none.
// In strict mode that applies only to what the remote did not decide.
func BackgroundRemote(ctx context.Context, repo *git.Repository) string {
	if mode := SyncMode(repo); mode != SyncAuto && mode != SyncStrict {
		return ""
	}
	remote, err := PickRemote(ctx, repo, "")
	if err != nil {
		return ""
	}
	return remote
}

// PreferAuto sets the mode of a repository whose remote has accepted a push, unless the person has chosen one
// anywhere. It overrides a note about a remote that was renamed or removed since.
func PreferAuto(ctx context.Context, repo *git.Repository, remote string) error {
	if noted := repo.Setting(ctx, "agentxchain.remote"); noted != "" && noted != remote {
		if all, err := Remotes(ctx, repo); err != nil {
			return err
		} else if !slices.Contains(all, noted) {
			return repo.Configure(ctx, "agentxchain.remote", remote)
		}
	}
	if SyncMode(repo) != "" || repo.Setting(ctx, "agentxchain.sync") != "" {
		return nil
	}
	if err := repo.Configure(ctx, "agentxchain.sync", SyncAuto); err != nil {
		return err
	}
	if repo.Setting(ctx, "agentxchain.remote") != "" {
		return nil
	}
	return repo.Configure(ctx, "agentxchain.remote", remote)
}
