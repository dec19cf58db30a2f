// Reading the repositories of an initiative without trusting them (docs/coordinator.md#when-it-is-blocked).

package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeForged means that a repository's working history claims an acceptance that its record does not support.
const CodeForged = "acceptance_forged"

// ReadOptions says how much of the repositories is read.
type ReadOptions struct {
	// Acceptances also reads what was accepted, and proves it: the chain of operations behind each row is replayed,
	// from the last one that is known to be sound. Showing a status does not need acceptances, projecting does.
	Acceptances bool
	// Turns are the relevant turns, by repository, as OpenTurns returns them; nil reads every row. With it usually
	// only the end of a ledger is read.
	Turns map[string][]string
	// Open are turns that were given out and have not ended, as far as the initiative knows.
	Open map[string][]string
	// Cache is a directory for notes of sound operations; "" is the workspace's (see cacheDir), "-" means no cache.
	Cache string
	// Checkouts, if not nil, is filled with the state of each repository's work tree.
	Checkouts map[string]*sibling.Checkout
	// Home is the repository that keeps what was fetched from repositories that exist only on their server, nil for
	// none.
	Home *git.Repository
	// Runs holds each repository's run in the initiative; nil means the newest.
	Runs map[string]string
	// Unknown reports whether the initiative does not know a turn of a repository: which initiative gave out such a turn
	// is read from the record if it was accepted after Since. nil for none.
	Unknown func(repo, turn string) bool
	Since   time.Time
	// Untouched leaves the cache unchanged.
	Untouched bool
	// Relink lists repositories that a person continues with although they have lost operations that the cache
	// knows: what is left is proven by itself, and read.
	Relink []string
}

// readChildren reads the repositories concurrently. Each is read from its files alone: none of its programs runs,
// none of its settings counts beyond the format of its repository, nothing outside it is read. If its run is
// recorded in a ref the ref decides; working files count beyond it when another implementation has continued the
// run in a way the store would record. Without a ref there are only the working files, and the Child is Unproven. A
// repository owned by another user is refused unless git's safe.directory allows it.
//
// A repository that cannot be read, or whose record is invalid, is a Child without a State; one without a location
// is absent. The problems say for every repository what was refused and why: Field is repos.<id>, Value the
// repository. Codes: those of sibling.Open, gitstore.ReadSibling and fsck, those of decoding a state,
// repo_not_governed, and acceptance_forged.
func readChildren(ctx context.Context, cfg *initiative.Config, roots *Roots,
	opt ReadOptions) (initiative.Children, wire.Problems) {
	r := &childReader{ctx: ctx, opt: opt}
	if r.opt.Cache == "" {
		r.opt.Cache = cacheDir(roots.Workspace)
	}
	ids := cfg.Repos.Keys()
	list := make([]childRead, len(ids))
	slots := make(chan struct{}, max(4, 2*runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for i, id := range ids {
		path, ok := roots.Path(id)
		if remote := roots.remote(id); remote != "" {
			list[i] = r.remote(id, remote)
			continue
		}
		if !ok {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			list[i] = r.read(id, path)
		})
	}
	wg.Wait()
	children := make(initiative.Children)
	var problems wire.Problems
	for i, id := range ids {
		if list[i].child != nil {
			children[id] = list[i].child
		}
		problems = append(problems, list[i].problems...)
		if opt.Checkouts != nil && list[i].checkout != nil {
			opt.Checkouts[id] = list[i].checkout
		}
	}
	return children, problems
}

// childReader reads siblings; it decodes shared data once.
type childReader struct {
	ctx     context.Context
	opt     ReadOptions
	trust   sibling.Trust
	configs sync.Map // sha256 -> *config.Config
}

// childRead is the result of reading one repository.
type childRead struct {
	child    *initiative.Child
	problems wire.Problems
	checkout *sibling.Checkout
}

func (c *childRead) problem(code, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	c.problems = append(c.problems, wire.Problem{Code: code, Field: "repos." + c.child.ID, Value: c.child.ID,
		Message: "repository " + c.child.ID + ": " + why})
	c.child.Unread = cmp.Or(c.child.Unread, why)
}

// refuse notes an error of the store or of a decoder.
func (c *childRead) refuse(err error) {
	code, e := fail.CodeOf(err), (*wire.Error)(nil)
	if code == "" && errors.As(err, &e) {
		code = e.Code
	}
	if code == "" {
		code = fail.CodeUnreadable
	}
	c.problem(code, "%s", firstLine(err.Error()))
}

func (r *childReader) read(id, path string) (out childRead) {
	out.child = initiative.NewChild(id, path, nil, nil, nil, nil)
	x, err := sibling.Open(r.ctx, path, &r.trust)
	if err != nil {
		out.refuse(err)
		return out
	}
	defer func() { _ = x.Close() }()
	if x.Bare() {
		out.child.Bare = true
		out.problem("repo_not_governed", "it is a bare repository, without files to work on")
		return out
	}
	data, err := x.Config()
	if err != nil {
		out.problem("repo_not_governed", "%s", firstLine(err.Error()))
		return out
	}
	cfg, err := r.config(data)
	if err != nil {
		out.problem("repo_not_governed", "%s", firstLine(err.Error()))
		return out
	}
	out.child.Config = cfg
	its, err := gitstore.ReadSibling(r.ctx, x)
	if r.opt.Checkouts != nil {
		run, op := "", object.OID("")
		if err == nil {
			run, op = its.Run, its.Op
		}
		out.checkout = x.Checkout(r.ctx, run, op)
	}
	if err != nil {
		out.refuse(err)
		return out
	}
	if its.Refused != nil {
		out.refuse(its.Refused)
	}
	known := r.known(path, its.Run)
	if its.Op == "" && known != "" {
		out.problem(record.CodeChainBroken, "run %s was recorded, and its ref is gone", its.Run)
		return out
	}
	if run := r.opt.Runs[id]; run != "" && run != its.Run {
		at, err := x.Ref(r.ctx, run)
		out.child.Holds = err == nil && at != ""
	}
	if its.State == nil {
		out.child.Fresh = true
		return out
	}
	state, perr := run.DecodeState(its.State)
	if perr != nil {
		out.refuse(perr)
		return out
	}
	state, _ = run.RepairState(state, cfg)
	if p := run.CheckState(state); len(p) > 0 {
		out.refuse(run.StateError(p))
		return out
	}
	if r.opt.Acceptances && its.Run != "" {
		if !r.sound(&out, its, path, known) {
			return out
		}
		if err := r.rows(&out, its, state); err != nil {
			out.refuse(err)
			return out
		}
		out.child.Given, out.child.Loose = x.InitiativeTurns(), its.Unrecorded()
	}
	if err := r.given(out.child, state, x.Repo, its.Op); err != nil {
		out.refuse(err)
		return out
	}
	out.child.State, out.child.Unproven = state, its.Run != "" && its.Op == ""
	if !its.Ahead { // nothing but the record supports what the repository holds
		out.child.Op = string(its.Op)
	}
	if its.Refused != nil {
		out.child.Refused = firstLine(its.Refused.Error())
	}
	out.child.LinkActive()
	return out
}

// config decodes a configuration that many repositories may share.
func (r *childReader) config(data []byte) (*config.Config, error) {
	sum := sha256.Sum256(data)
	if cfg, ok := r.configs.Load(sum); ok {
		return cfg.(*config.Config), nil
	}
	cfg, problems, err := config.Decode(data)
	if err == nil && len(problems) > 0 {
		err = config.Refusal(problems)
	}
	if err != nil {
		return nil, err
	}
	r.configs.Store(sum, cfg)
	return cfg, nil
}

// sound proves the record of a run, starting at the operation known to be sound.
func (r *childReader) sound(out *childRead, run *gitstore.SiblingRun, path string, known object.OID) bool {
	if run.Op == "" {
		return true
	}
	v, err := run.Verify(r.ctx, known)
	if err != nil {
		out.refuse(err)
		return false
	}
	if v.Lost {
		out.child.Lost = string(known)
		if len(v.Findings) == 1 && slices.Contains(r.opt.Relink, out.child.ID) {
			return true // not noted: this applies only to the command with Relink
		}
	}
	for i, f := range v.Findings {
		if i == maxFindings {
			break
		}
		out.problem(f.Code, "run %s does not hold at operation %s: %s", run.Run, f.Op.Short(), firstLine(f.Message))
	}
	if v.Sound() && len(v.Open) == 0 {
		r.remember(path, run.Run, run.Op)
	}
	return v.Sound()
}
