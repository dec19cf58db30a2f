// The state of a sibling's checkout, read from its files: the branch, and how the branch and the run relate to what
// was last fetched.

package sibling

import (
	"bytes"
	"container/heap"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

// maxCheckoutCommits bounds how many commits are read to compute the distance between two.
const maxCheckoutCommits = 5000

// Checkout is the state of a clone's work tree.
type Checkout struct {
	Branch  string // "" for a detached HEAD, or without a repository
	Head    object.OID
	Shallow bool // its history is shallow

	Upstream string // such as origin/main, as last fetched; "" for none
	Behind   int    // commits there that HEAD lacks; -1 when they are too many to count
	Ahead    int

	Remote    string // the remote from which a record of the run was fetched; "" for none
	OpsBehind int    // operations there that are not here; -1 when they are too many to count
	OpsAhead  int
}

// Checkout reads the state of the checkout. It leaves out what cannot be read: no decision depends on it.
func (x *Clone) Checkout(ctx context.Context, run string, op object.OID) *Checkout {
	c := &Checkout{}
	if x.git == nil {
		return c
	}
	if fi, err := x.git.Root.Lstat("shallow"); err == nil && fi.Size() > 0 {
		c.Shallow = true
	}
	head, err := x.head(ctx)
	if err != nil {
		return c
	}
	branch, on := strings.CutPrefix(head, "ref: ")
	if !on {
		c.Head, _ = x.oid("HEAD", head)
	} else if git.SafeRefName(branch) {
		c.Branch = strings.TrimPrefix(branch, "refs/heads/")
		c.Head, _ = x.refNamed(ctx, branch)
	}
	cfg, err := x.config("config")
	if err != nil {
		return c
	}
	if remote := cfg["branch."+c.Branch+".remote"]; c.Branch != "" && remote != "" {
		name := remote + "/" + strings.TrimPrefix(cfg["branch."+c.Branch+".merge"], "refs/heads/")
		if there, err := x.tracking(ctx, transport.TrackingRefs+name); err == nil && there != "" && c.Head != "" {
			c.Upstream = name
			c.Ahead, c.Behind = x.apart(ctx, c.Head, there, c.Shallow)
		}
	}
	if op == "" {
		return c
	}
	for _, remote := range cfg.remotes() {
		if there, err := x.tracking(ctx, transport.TrackingPrefix(remote)+run); err == nil && there != "" {
			c.Remote = remote
			c.OpsAhead, c.OpsBehind = x.apart(ctx, op, there, c.Shallow)
			break
		}
	}
	return c
}

// head returns the text of the work tree's HEAD.
func (x *Clone) head(ctx context.Context) (string, error) {
	if x.Repo.RefFormat == "reftable" {
		return x.headInTables(ctx)
	}
	rel, err := filepath.Rel(x.git.Path, filepath.Join(x.Repo.GitDir, "HEAD"))
	if err != nil {
		return "", err
	}
	data, _, ok, err := x.git.Read(rel, git.MaxPointer)
	if err == nil && !ok {
		err = os.ErrNotExist
	}
	return string(bytes.TrimRight(data, " \t\r\n")), err
}

// tracking reads the tracking ref of a configured name.
func (x *Clone) tracking(ctx context.Context, name string) (object.OID, error) {
	if !git.SafeRefName(name) {
		return "", git.Broken(name)
	}
	return x.refNamed(ctx, name)
}

// remotes returns the remotes that have a refspec, origin first.
func (c gitConfig) remotes() []string {
	var out []string
	for key := range c {
		rest, ok := strings.CutPrefix(key, "remote.")
		if name, fetch := strings.CutSuffix(rest, ".fetch"); ok && fetch && name != "" {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if (a == "origin") != (b == "origin") {
			return map[bool]int{true: -1, false: 1}[a == "origin"]
		}
		return strings.Compare(a, b)
	})
	return out
}

// painted is a commit on the way back from two tips.
type painted struct {
	oid   object.OID
	when  time.Time
	sides int // 1 left, 2 right
}

// byDate orders commits newest first.
type byDate []*painted

func (q byDate) Len() int           { return len(q) }
func (q byDate) Less(i, j int) bool { return q[i].when.After(q[j].when) }
func (q byDate) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *byDate) Push(v any)        { *q = append(*q, v.(*painted)) }
func (q *byDate) Pop() any {
	old := *q
	v := old[len(old)-1]
	*q = old[:len(old)-1]
	return v
}

// apart counts the commits that only one of two tips reaches, -1 for both when there are too many, or some are not
// here.
func (x *Clone) apart(ctx context.Context, left, right object.OID, shallow bool) (ahead, behind int) {
	if left == right {
		return 0, 0
	}
	r := record.NewReader(ctx, x.Repo)
	known := make(map[object.OID]*painted)
	var queue byDate
	parents := make(map[object.OID][]object.OID)
	paint := func(oid object.OID, sides int) bool {
		p := known[oid]
		if p == nil {
			c, err := r.Commit(oid)
			if err != nil {
				return false
			}
			parents[oid] = c.Parents
			p = &painted{oid: oid, when: c.Committer.When}
			known[oid] = p
		}
		if p.sides|sides == p.sides {
			return true
		}
		p.sides |= sides
		heap.Push(&queue, p)
		return true
	}
	if !paint(left, 1) || !paint(right, 2) {
		return -1, -1
	}
	for seen := 0; len(queue) > 0; seen++ {
		open := 0 // commits reached from one side only
		for _, p := range queue {
			if p.sides != 3 {
				open++
			}
		}
		if open == 0 {
			break
		}
		if seen == maxCheckoutCommits || ctx.Err() != nil {
			return -1, -1
		}
		p := heap.Pop(&queue).(*painted)
		for _, parent := range parents[p.oid] {
			// A shallow clone ends here: earlier commits are the same for both or unknown.
			if !paint(parent, p.sides) && !shallow {
				return -1, -1
			}
		}
	}
	// If dates are out of order, a commit may be reached from one side before the other reaches it.
	for len(queue) > 0 {
		p := heap.Pop(&queue).(*painted)
		for _, parent := range parents[p.oid] {
			if k := known[parent]; k != nil && k.sides != 3 {
				k.sides = 3
				heap.Push(&queue, k)
			}
		}
	}
	for _, p := range known {
		switch p.sides {
		case 1:
			ahead++
		case 2:
			behind++
		}
	}
	return ahead, behind
}
