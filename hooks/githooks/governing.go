// The configuration that governs a commit: the last valid one of its history.

package githooks

import (
	"context"
	"errors"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// governor is a configuration and its origin.
type governor struct {
	content object.OID // of agentxchain.json
	config  *config.Config
}

// governance finds the configurations that govern the commits of one project. A commit is governed by its own
// configuration or, when that is missing or invalid, by the last valid one of its history. A branch cannot drop its
// rules by losing or breaking their file.
type governance struct {
	ctx     context.Context
	repo    *git.Repository
	path    string // of agentxchain.json in the repository
	entries map[object.OID]entry
	configs map[object.OID]*config.Config // by content, nil for an invalid one
	governs map[object.OID]*governor      // by commit, nil for none
	home    *home
}

// entry is the entry of a tree at one path; the zero value is nothing.
type entry struct {
	oid  object.OID
	mode object.Mode
}

// home is the governed branch of the repository against which new history is checked.
type home struct {
	tip object.OID
	governor
}

func newGovernance(ctx context.Context, repo *git.Repository, prefix string) *governance {
	return &governance{ctx: ctx, repo: repo, path: prefix + wire.ConfigPath, entries: make(map[object.OID]entry),
		configs: make(map[object.OID]*config.Config), governs: make(map[object.OID]*governor)}
}

// entry returns a commit's entry at the configuration's path.
func (v *governance) entry(commit object.OID) (entry, error) {
	e, known := v.entries[commit]
	if known {
		return e, nil
	}
	var err error
	if e.oid, e.mode, err = chain.EntryAt(v.ctx, v.repo, commit, v.path); err != nil {
		return e, err
	}
	v.entries[commit] = e
	return e, nil
}

func plainFile(m object.Mode) bool { return m == object.ModeFile || m == object.ModeExec }

// valid returns the configuration of an entry, nil when it does not govern.
func (v *governance) valid(e entry) (*governor, error) {
	if e.oid == "" || !plainFile(e.mode) {
		return nil, nil
	}
	c, known := v.configs[e.oid]
	if !known {
		_, data, err := v.repo.Objects().Read(v.ctx, e.oid)
		if err != nil {
			return nil, err
		}
		c = config.DecodeGoverning(data)
		v.configs[e.oid] = c
	}
	if c == nil {
		return nil, nil
	}
	return &governor{e.oid, c}, nil
}

// of returns what governs a commit, nil for nothing.
func (v *governance) of(commit object.OID) (*governor, error) {
	if commit == "" {
		return nil, nil
	}
	if g, known := v.governs[commit]; known {
		return g, nil
	}
	e, err := v.entry(commit)
	if err != nil {
		return nil, err
	}
	g, err := v.valid(e)
	if err == nil && g == nil {
		g, err = v.lastValid(commit, e)
	}
	if err != nil {
		return nil, err
	}
	v.governs[commit] = g
	return g, nil
}

// maxConfigHistory bounds how many versions of the configuration are searched for a valid one.
const maxConfigHistory = 1000

// lastValid searches the history of a commit without a valid configuration. A configuration that was never valid
// still protects what it names.
func (v *governance) lastValid(commit object.OID, e entry) (*governor, error) {
	list, err := history.PathCommits(v.ctx, v.repo, commit, v.path, maxConfigHistory)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		parents, _, err := chain.CommitAlone(v.ctx, v.repo, c)
		if err != nil {
			return nil, err
		}
		for _, at := range append([]object.OID{c}, parents...) {
			if !v.repo.Objects().Has(v.ctx, at) {
				continue // beyond the end of a shallow clone
			}
			held, err := v.entry(at)
			if err != nil {
				return nil, err
			}
			if g, err := v.valid(held); err != nil || g != nil {
				return g, err
			}
		}
	}
	if e.oid == "" || !plainFile(e.mode) {
		return nil, nil
	}
	_, data, err := v.repo.Objects().Read(v.ctx, e.oid)
	if err != nil {
		return nil, err
	}
	c, _, err := config.Decode(data)
	if _, ok := errors.AsType[*wire.Error](err); ok {
		return nil, nil // it never governed anything, and other commands say why
	}
	if err != nil {
		return nil, err
	}
	return &governor{e.oid, c}, nil
}

// learn records a new commit's entry and what governs it from then on.
func (v *governance) learn(commit object.OID, e entry, g *governor) {
	v.entries[commit], v.governs[commit] = e, g
}

// homeBranch returns the governed branch against which history without governed parents is checked: the one HEAD is
// on, else main or master, else the one that moved last; nil when no branch has a valid configuration.
func (v *governance) homeBranch() (*home, error) {
	if v.home != nil {
		return v.home, nil
	}
	out, err := v.repo.Git.Run(v.ctx, nil, "for-each-ref", "--sort=-committerdate",
		"--format=%(HEAD)%(objectname) %(refname)", branchPrefix)
	if err != nil {
		return nil, err
	}
	v.home = &home{}
	best := 0
	for line := range strings.Lines(string(out)) {
		if len(line) < 2 {
			continue
		}
		tip, ref, _ := strings.Cut(strings.TrimSuffix(line[1:], "\n"), " ")
		rank := 1
		switch {
		case line[0] == '*':
			rank = 3
		case ref == branchPrefix+"main" || ref == branchPrefix+"master":
			rank = 2
		}
		if rank <= best {
			continue
		}
		e, err := v.entry(object.OID(tip))
		if err != nil {
			return nil, err
		}
		g, err := v.valid(e)
		if err != nil {
			return nil, err
		}
		if g != nil {
			best, v.home = rank, &home{object.OID(tip), *g}
		}
	}
	return v.home, nil
}
