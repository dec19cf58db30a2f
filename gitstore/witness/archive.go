// Witness statements about archived runs: they are beside the list of these runs, which travels, and not below refs
// of their own that every fetch goes through (docs/teams.md#archived-runs).

package witness

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Said says where the statements about one run are.
type Said struct {
	tips []object.OID // the newest statement of each key
	kept []object.OID // directories beside the lists of archived runs
}

// Spoken finds witness statements by run; about every run when run is "".
func Spoken(ctx context.Context, repo *git.Repository, run string) (map[string]*Said, error) {
	prefix := record.WitnessRefPrefix
	if run != "" {
		prefix += run + "/"
	}
	tips, err := repo.Tips(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Said)
	at := func(of string) *Said {
		if out[of] == nil {
			out[of] = &Said{}
		}
		return out[of]
	}
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		of := run
		if of == "" {
			of, _, _ = strings.Cut(name, "/")
		}
		at(of).tips = append(at(of).tips, tips[name])
	}
	years, err := archive.Years(ctx, repo, archive.ListPrefix)
	if err != nil {
		return nil, err
	}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		said, err := archive.SaidAt(ctx, repo, years[year])
		if err != nil {
			return nil, err
		}
		of, err := archive.SaidOf(ctx, repo, said)
		if err != nil {
			return nil, err
		}
		for name, tree := range of {
			if run == "" || name == run {
				at(name).kept = append(at(name).kept, tree)
			}
		}
	}
	return out, nil
}

// statements reads the envelopes, each once: those below refs, oldest first, then those in the archive.
func statements(ctx context.Context, repo *git.Repository, of *Said) ([][]byte, error) {
	if of == nil {
		return nil, nil
	}
	all, err := read(ctx, repo, of.tips)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(all))
	for _, data := range all {
		known[string(data)] = true
	}
	for _, tree := range of.kept {
		list, err := archive.Statements(ctx, repo, tree)
		if err != nil {
			return nil, err
		}
		for _, data := range list {
			if !known[string(data)] {
				known[string(data)] = true
				all = append(all, data)
			}
		}
	}
	return all, nil
}

// Archive moves the statements about archived runs to the list, from here and, when remote is not "", from what was
// fetched from it. It returns the refs that the remote no longer needs once it has the list.
func Archive(
	ctx context.Context, repo *git.Repository, env protocol.Env, list archive.List, remote string,
) (retire []transport.RefPush, err error) {
	over, err := archivedOnly(ctx, repo, list)
	if err != nil {
		return nil, err
	}
	here, err := repo.Tips(ctx, record.WitnessRefPrefix)
	if err != nil {
		return nil, err
	}
	var gone []git.RefUpdate
	tips := make(map[string][]object.OID)
	for name, tip := range here {
		if run, _, _ := strings.Cut(name, "/"); over(run) {
			tips[run] = append(tips[run], tip)
			gone = append(gone, git.RefUpdate{Name: record.WitnessRefPrefix + name, Old: tip})
		}
	}
	if remote != "" {
		there, err := repo.Tips(ctx, transport.TrackingWitnesses(remote))
		if err != nil {
			return nil, err
		}
		for name, tip := range there {
			if run, _, _ := strings.Cut(name, "/"); over(run) {
				tips[run] = append(tips[run], tip)
				retire = append(retire, transport.RefPush{Name: record.WitnessRefPrefix + name, Old: tip})
			}
		}
	}
	if len(tips) == 0 {
		return nil, nil
	}
	said := make(map[string]map[string][][]byte) // by year and run
	for run, of := range tips {
		all, err := read(ctx, repo, of)
		if err != nil {
			return nil, err
		}
		year := list[run].Year()
		if said[year] == nil {
			said[year] = make(map[string][][]byte)
		}
		for _, data := range all {
			if _, bad := attest.DecodeDSSE(data); bad == nil {
				said[year][run] = append(said[year][run], data)
			}
		}
	}
	if err := addSaid(ctx, repo, env, list, said); err != nil {
		return nil, err
	}
	slices.SortFunc(gone, git.ByName)
	slices.SortFunc(retire, func(a, b transport.RefPush) int { return strings.Compare(a.Name, b.Name) })
	return retire, repo.UpdateRefs(ctx, gone, "agentxchain: archive")
}

// addSaid adds statements to the lists, by year and run.
func addSaid(
	ctx context.Context, repo *git.Repository, env protocol.Env, list archive.List,
	said map[string]map[string][][]byte,
) error {
	years, err := archive.Years(ctx, repo, archive.ListPrefix)
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	for _, year := range slices.Sorted(maps.Keys(said)) {
		had, err := archive.SaidAt(ctx, repo, years[year])
		if err != nil {
			return err
		}
		to, err := archive.AddSaid(ctx, repo, had, said[year])
		if err != nil {
			return err
		}
		if to == had {
			continue
		}
		oid, err := archive.Write(ctx, repo, list.Year(year), to, record.Signature(&env),
			"archive: what witnesses signed of runs of "+year, years[year])
		if err != nil {
			return err
		}
		moves = append(moves, git.RefUpdate{Name: archive.ListPrefix + year, New: oid, Old: years[year]})
	}
	return repo.UpdateRefs(ctx, moves, "agentxchain: archive")
}

// archivedOnly returns a function that reports whether a run is in the archive and not among the runs here.
func archivedOnly(ctx context.Context, repo *git.Repository, list archive.List) (func(run string) bool, error) {
	live, err := repo.Tips(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	return func(run string) bool { return live[run] == "" && list.Archived(run) != nil }, nil
}

// Bring moves the statements about an unarchived run back below refs, where exports and syncs find them. Every
// clone makes the same commits.
func Bring(ctx context.Context, repo *git.Repository, run string) error {
	all, err := Spoken(ctx, repo, run)
	if err != nil || all[run] == nil || len(all[run].kept) == 0 {
		return err
	}
	list, err := archive.ReadAll(ctx, repo, archive.ListPrefix)
	if err != nil {
		return err
	}
	by := record.Signature(&protocol.Env{Now: time.Unix(0, 0)})
	if e := list[run]; e != nil {
		if at, err := wire.ParseTime(e.At); err == nil {
			by.When = at
		}
	}
	have, err := read(ctx, repo, all[run].tips)
	if err != nil {
		return err
	}
	here := make(map[string]bool, len(have))
	for _, data := range have {
		here[string(data)] = true
	}
	statements, err := statements(ctx, repo, all[run])
	if err != nil {
		return err
	}
	moves := make(map[string]git.RefUpdate)
	for _, data := range statements {
		env, bad := attest.DecodeDSSE(data)
		if bad != nil || here[string(data)] {
			continue
		}
		name := refOf(run, env)
		m, begun := moves[name]
		if !begun {
			m.Name = name
			if m.Old, err = repo.ReadRef(ctx, name); err != nil {
				return err
			}
			m.New = m.Old
		}
		var parents []object.OID
		if m.New != "" {
			parents = append(parents, m.New)
		}
		if m.New, err = write(ctx, repo, run, data, parents, by); err != nil {
			return err
		}
		moves[name] = m
	}
	updates := slices.SortedFunc(maps.Values(moves), git.ByName)
	return repo.UpdateRefs(ctx, updates, "agentxchain: out of the archive")
}

// refOf returns the ref of a key's statements about a run.
func refOf(run string, env *attest.Envelope) string {
	return record.WitnessRefPrefix + run + "/" + wire.SHA256([]byte(env.Signer()))[:16]
}
