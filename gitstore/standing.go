// How a run here stands to what was last seen of it on remotes. Nothing is fetched.

package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RemoteStanding is how a run, or an initiative, stands to a remote.
type RemoteStanding struct {
	Remote string
	Ahead  int       // operations that are not there, as far as known here
	Behind int       // operations there that are not here
	Since  time.Time // of the newest operation both sides have; set when both went on
}

// Object is the standing for --json: {remote, ahead, behind, diverged_since}.
func (m RemoteStanding) Object() *ojson.Object {
	o := ojson.NewObject("remote", m.Remote, "ahead", m.Ahead, "behind", m.Behind, "diverged_since", nil)
	if !m.Since.IsZero() {
		o.Set("diverged_since", wire.FormatTime(m.Since))
	}
	return o
}

// RemoteStandings tells it for every remote that a record of the run was fetched from. One git
// process, and one more for each remote that differs.
func (s *Store) RemoteStandings(ctx context.Context, run string, tip git.OID) ([]RemoteStanding, error) {
	return s.remoteStandings(ctx, transport.TrackingPrefix, run, tip)
}

// InitiativeStandings tells it for an initiative that is recorded here, nothing for another one.
func (s *Store) InitiativeStandings(ctx context.Context, name string) ([]RemoteStanding, error) {
	tip, err := s.repo.ReadRef(ctx, record.InitiativeRefPrefix+name)
	if err != nil || tip == "" {
		return nil, err
	}
	return s.remoteStandings(ctx, transport.TrackingInitiatives, name, tip)
}

func (s *Store) remoteStandings(ctx context.Context, space func(remote string) string, run string, tip git.OID,
) ([]RemoteStanding, error) {
	names := s.trackingNames(space, run)
	if len(names) == 0 {
		return nil, nil
	}
	out, err := s.repo.Git.Run(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, names...)...)
	if err != nil {
		return nil, err
	}
	var all []RemoteStanding
	for line := range strings.Lines(string(out)) {
		oid, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		name = strings.TrimPrefix(name, transport.TrackingRefs)
		st := RemoteStanding{Remote: name[:strings.Index(name, "/agentxchain/")]}
		if there := git.OID(oid); there != tip {
			if err := s.apart(ctx, &st, tip, there); err != nil {
				return nil, err
			}
		}
		all = append(all, st)
	}
	return all, nil
}

// trackingNames are the names under which remotes of this repository would be seen to have a
// run; space is where those of a remote lie. A pattern over all remotes has git go through the runs of each; remotes are known
// without starting git, unless the configuration is spread over several files.
func (s *Store) trackingNames(space func(remote string) string, run string) []string {
	var names []string
	for _, e := range s.localConfig() {
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

// localConfig are the entries of this repository's own configuration, none when it cannot be
// read.
func (s *Store) localConfig() []git.ConfigEntry {
	data, err := os.ReadFile(filepath.Join(s.repo.CommonDir, "config"))
	if err != nil {
		return nil
	}
	entries, _ := git.ParseConfigEntries(data)
	return entries
}

// apart counts the operations of both sides.
func (s *Store) apart(ctx context.Context, st *RemoteStanding, here, there git.OID) error {
	out, err := s.repo.Git.Run(ctx, nil, "rev-list", "--left-right", "--count", string(here)+"..."+string(there), "--")
	if err != nil {
		return err
	}
	f := strings.Fields(string(out))
	if len(f) != 2 {
		return git.Errorf(git.CodeGitFailed, nil, "git rev-list answered in a form that is not understood")
	}
	st.Ahead, _ = strconv.Atoi(f[0])
	st.Behind, _ = strconv.Atoi(f[1])
	if st.Ahead == 0 || st.Behind == 0 {
		return nil
	}
	base, err := s.repo.MergeBase(ctx, here, there)
	if err != nil || base == "" {
		return err
	}
	c, err := s.reader(ctx).Commit(base)
	if err == nil {
		st.Since = c.Author.When
	}
	return err
}

// Elsewhere says what is known of runs on remotes, for a clone that has none: the run
// of a tracking name and its remote, or a remote whose runs were never asked for.
func (s *Store) Elsewhere(ctx context.Context) (run, remote string, err error) {
	out, err := s.repo.Git.Run(ctx, nil, "for-each-ref", "--count=1", "--sort=-creatordate", "--format=%(refname)", transport.TrackingRefs+"*/agentxchain/runs/*")
	if err != nil {
		return "", "", err
	}
	if name := strings.TrimPrefix(strings.TrimSpace(string(out)), transport.TrackingRefs); name != "" {
		remote, run, _ = strings.Cut(name, "/agentxchain/runs/")
		return run, remote, nil
	}
	all, err := transport.Remotes(ctx, s.repo)
	if err != nil || len(all) == 0 {
		return "", "", err
	}
	for _, remote := range all {
		specs, _ := s.repo.Git.Run(ctx, nil, "config", "--get-all", "remote."+remote+".fetch")
		if slices.Contains(strings.Split(string(specs), "\n"), transport.RunRefspecs(remote)[0]) {
			return "", "", nil // it was asked, or git fetch asks it
		}
	}
	return "", all[0], nil
}

// Modes of agentxchain.sync.
const (
	SyncManual = "manual" // only git agentxchain sync speaks to the remote
	SyncAuto   = "auto"   // every operation is pushed in the background
	SyncStrict = "strict" // the remote decides: an operation is done when it has taken it
)

// SyncMode reads agentxchain.sync of this repository without starting git: it is asked
// for at every operation. It is "" when nothing is set; what is not known is manual.
func (s *Store) SyncMode() string {
	mode := ""
	for _, e := range s.localConfig() {
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

// BackgroundRemote is the remote that what was recorded here is pushed to in the background, ""
// for none. In strict mode only what the remote did not decide is.
func (s *Store) BackgroundRemote(ctx context.Context) string {
	if mode := s.SyncMode(); mode != SyncAuto && mode != SyncStrict {
		return ""
	}
	remote, err := transport.PickRemote(ctx, s.repo, "")
	if err != nil {
		return ""
	}
	return remote
}

// preferAuto sets the mode of a repository whose remote has taken a push, unless the
// person has chosen one anywhere.
func (s *Store) preferAuto(ctx context.Context, remote string) error {
	if s.SyncMode() != "" || s.repo.Setting(ctx, "agentxchain.sync") != "" {
		return nil
	}
	if err := s.repo.Configure(ctx, "agentxchain.sync", SyncAuto); err != nil {
		return err
	}
	if s.repo.Setting(ctx, "agentxchain.remote") != "" {
		return nil
	}
	return s.repo.Configure(ctx, "agentxchain.remote", remote)
}

// PublishStrict moves the ref of an operation on the remote first, by compare-and-swap,
// and here when the remote has taken it. A remote that has moved is ref_moved: the
// operation has to be decided again on what is there now.
func (s *Store) PublishStrict(ctx context.Context, remote string, m decision.Move, branch bool) error {
	p := transport.RefPush{Name: m.Ref.Name, New: m.Ref.New, Old: m.Ref.Old}
	said, err := transport.Push(ctx, s.repo, remote, []transport.RefPush{p}, s.branchAlong(ctx, remote, branch)...)
	a, err := s.settlePush(ctx, remote, p, said[p.Name], err)
	if err != nil {
		return err
	}
	switch a.State {
	case transport.PushOK:
	case transport.PushStale:
		return git.Errorf(git.CodeRefMoved, nil, "another machine recorded an operation on %s first", remote).WithHint("run the command again")
	default:
		return git.Errorf(transport.CodeRemoteRefused, nil, "%s does not take %s: %s", remote, p.Name, a.Why).
			WithHint("ask the administrator of the server to allow pushes to refs/agentxchain/*; nothing was recorded")
	}
	if err := decision.Alone(ctx, s.repo, m); err != nil {
		return err
	}
	run := strings.TrimPrefix(m.Ref.Name, git.RunRefPrefix)
	seen := git.RefUpdate{Name: record.SeenRefPrefix + remote + "/" + run, New: p.New}
	if seen.Old, err = s.repo.ReadRef(ctx, seen.Name); err != nil || seen.Old == seen.New {
		return nil
	}
	_ = s.repo.UpdateRefs(ctx, []git.RefUpdate{seen}, "agentxchain: pushed to "+text.OneLine(remote)) // the next sync notes it
	return nil
}

// settlePush asks the remote what became of a push whose answer got lost, or that seems to have come
// too late: so does one that got there twice.
func (s *Store) settlePush(ctx context.Context, remote string, p transport.RefPush, a transport.PushResult, err error) (transport.PushResult, error) {
	lost := git.CodeOf(err) == transport.CodeRemoteFailed
	if !lost && (err != nil || a.State != transport.PushStale) {
		return a, err
	}
	there, asked := transport.Ref(ctx, s.repo, remote, p.Name)
	switch {
	case asked == nil && there == p.New:
		return transport.PushResult{State: transport.PushOK}, nil
	case !lost:
		return a, nil
	case asked != nil:
		return a, git.Errorf(transport.CodeRemoteFailed, nil, "%s did not say whether it recorded the operation: %s", remote, transport.Complaint(asked)).
			WithHint("git agentxchain sync %s brings the operation here if it did", remote)
	case there != p.Old:
		return transport.PushResult{State: transport.PushStale}, nil
	}
	var e *git.Error
	if errors.As(err, &e) {
		err = e.WithHint("it was not recorded; run the command again")
	}
	return a, err
}
