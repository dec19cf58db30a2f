// Deciding what a sync fetches from a remote with many runs: it lists the remote first, which is cheap compared
// with a fetch that finds nothing. Git would compare each ref with those here, and then walk all of them again to
// check that their objects are complete, for records and for branches.

package transport

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// listFirst is the number of a remote's records from which it is listed before a fetch. A listing includes all refs
// of the server, a fetch only the requested ones.
const listFirst = 500

// refspec is a refspec of the simple form <from>:<to>, both names or both with one star.
type refspec struct {
	force    string // "+" or ""
	from, to [2]string
	star     bool
}

func parseRefspec(spec string) (refspec, bool) {
	rest, forced := strings.CutPrefix(spec, "+")
	from, to, ok := strings.Cut(rest, ":")
	x := refspec{}
	if forced {
		x.force = "+"
	}
	x.from[0], x.from[1], x.star = strings.Cut(from, "*")
	var star bool
	x.to[0], x.to[1], star = strings.Cut(to, "*")
	ok = ok && x.star == star && strings.HasPrefix(from, "refs/") && !strings.Contains(x.from[1]+x.to[1], "*")
	return x, ok
}

// at returns the tracking ref of a remote's ref, "" when the refspec does not cover it.
func (x refspec) at(name string) string {
	if !x.star {
		if name == x.from[0] {
			return x.to[0]
		}
		return ""
	}
	rest, ok := strings.CutPrefix(name, x.from[0])
	if rest, found := strings.CutSuffix(rest, x.from[1]); ok && found {
		return x.to[0] + rest + x.to[1]
	}
	return ""
}

// remoteChange is the difference between a remote and what was last seen of it.
type remoteChange struct {
	fetch []string        // refspecs of new refs there
	gone  []git.RefUpdate // tracking refs of records that are gone there
}

// changesOf lists a remote and returns the differences; ok is false when git has to find them: there are few
// records, a refspec has another form, or the remote cannot be listed.
func changesOf(ctx context.Context, r *git.Repository, remote string, others []string) (_ *remoteChange, ok bool) {
	space := TrackingRefs + remote + "/"
	var specs []refspec
	for _, spec := range append(runRefspecs(remote), others...) {
		x, ok := parseRefspec(spec)
		if !ok || !strings.HasPrefix(x.to[0], space) {
			return nil, false
		}
		specs = append(specs, x)
	}
	refs, err := r.ListRefs(ctx, space)
	if err != nil {
		return nil, false
	}
	seen, stale := make(map[string]object.OID, len(refs)), make(map[string]object.OID)
	for _, ref := range refs {
		if ref.Target != "" || ref.Broken {
			continue
		}
		if seen[ref.Name] = ref.OID; strings.HasPrefix(ref.Name, TrackingSpace(remote)) {
			stale[ref.Name] = ref.OID
		}
	}
	if len(stale) < listFirst || partial(ctx, r, remote) { // there records are fetched unfiltered, the rest filtered
		return nil, false
	}
	there, err := List(ctx, r.Git.Transport(), r.ObjectFormat, remote)
	if err != nil {
		return nil, false
	}
	c := &remoteChange{}
	for _, ref := range there {
		for _, x := range specs {
			to := x.at(ref.Name)
			if to == "" {
				continue
			}
			delete(stale, to)
			if seen[to] != ref.OID {
				c.fetch = append(c.fetch, x.force+ref.Name+":"+to)
			}
		}
	}
	for name, oid := range stale {
		c.gone = append(c.gone, git.RefUpdate{Name: name, Old: oid})
	}
	return c, true
}

// fetchListed fetches the listed changes in one fetch; ok is false when git has to find them.
func fetchListed(ctx context.Context, r *git.Repository, remote string, others []string) (ok bool) {
	c, ok := changesOf(ctx, r, remote, others)
	if !ok {
		return false
	}
	if len(c.fetch) > 0 {
		in := []byte(strings.Join(c.fetch, "\n") + "\n")
		// Without --refmap git would also fetch the configured refspecs.
		args := append(FetchArgs(), "--refmap=", "--no-prune", "--stdin", "--", remote)
		if r.Fetch(ctx, r.Git.Transport(), remote, in, args) != nil {
			return false
		}
	}
	return r.UpdateRefs(ctx, c.gone, "agentxchain: gone from "+text.OneLine(remote)) == nil
}

// List lists the refs of a remote: those with the given names, those below a name that ends in a slash, or all of
// them without a name.
func List(ctx context.Context, g *git.Git, format, remote string, names ...string) ([]git.Ref, error) {
	ctx, stop := transferring(ctx)
	defer stop()
	args := []string{"ls-remote", "--refs", "--", remote}
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			name += "*"
		}
		args = append(args, name)
	}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	var refs []git.Ref
	for line := range strings.Lines(string(out)) {
		oid, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		// git also lists a name that only ends like a requested one.
		asked := len(names) == 0
		for _, n := range names {
			asked = asked || name == n || strings.HasSuffix(n, "/") && strings.HasPrefix(name, n)
		}
		if tip := object.OID(oid); ok && asked && tip.Valid(format) && git.SafeRefName(name) {
			refs = append(refs, git.Ref{Name: name, OID: tip})
		}
	}
	return refs, nil
}
