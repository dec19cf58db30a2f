// Checkpoints of Entire: a trailer of a commit's message names one, and a tree elsewhere lists its sessions, their
// agents and the files they touched. It does not say which lines they wrote.

package foreign

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	entireTrailer = "Entire-Checkpoint"
	entireBranch  = "entire/checkpoints/v1"    // all checkpoints, in directories
	entireRefs    = "refs/entire/checkpoints/" // or one ref each
	maxSessions   = 32                         // of one checkpoint
)

// entireCommits returns the commits of all branches that name a checkpoint.
func entireCommits(ctx context.Context, repo *git.Repository) ([]object.OID, error) {
	named, err := entireNamed(ctx, repo, "log", "--branches", "--remotes", "--tags", "--grep=^"+entireTrailer+":")
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(named)), nil
}

// entireNamed runs git log and returns the checkpoints that messages name.
func entireNamed(ctx context.Context, repo *git.Repository, args ...string) (map[object.OID]string, error) {
	args = append(args, "--no-show-signature", "--no-color", "--no-notes", "--no-mailmap",
		"--format=%H %(trailers:key="+entireTrailer+",valueonly,separator=%x20)")
	out, err := repo.Git.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	named := make(map[object.OID]string)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		id := f[len(f)-1] // the last one counts, as with trailers
		if len(id) == 12 && strings.Trim(id, "0123456789abcdef") == "" {
			named[object.OID(f[0])] = id
		}
	}
	return named, nil
}

func (b *Book) readEntire(ctx context.Context, repo *git.Repository, commits []object.OID) error {
	roots, err := entireRoots(ctx, repo)
	if err != nil || len(roots) == 0 {
		return err
	}
	for some := range slices.Chunk(commits, 500) {
		args := []string{"log", "--no-walk=unsorted"}
		for _, c := range some {
			args = append(args, string(c))
		}
		named, err := entireNamed(ctx, repo, args...)
		if err != nil {
			return err
		}
		if err := b.readCheckpoints(ctx, repo, roots, named); err != nil {
			return err
		}
	}
	return nil
}

// entireRoots returns the refs with checkpoints.
func entireRoots(ctx context.Context, repo *git.Repository) ([]string, error) {
	out, err := repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/heads/"+entireBranch,
		"refs/remotes/*/"+entireBranch, entireRefs)
	return strings.Fields(string(out)), err
}

// readCheckpoints reads the checkpoints that commits name, if any exist.
func (b *Book) readCheckpoints(ctx context.Context, repo *git.Repository, roots []string,
	named map[object.OID]string) error {
	type place struct {
		commit object.OID
		dir    string // of the checkpoint, as git names it
	}
	var places []place
	for commit, id := range named {
		for _, root := range roots {
			switch {
			case !strings.HasPrefix(root, entireRefs):
				places = append(places, place{commit, root + ":" + id[:2] + "/" + id[2:] + "/"})
			case path.Base(root) == id:
				places = append(places, place{commit, root + ":"})
			}
		}
	}
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.dir + "metadata.json"
	}
	type session struct {
		commit object.OID
		whole  *ojson.Object
	}
	var sessions []session
	var files []string
	done := make(map[object.OID]bool)
	err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		commit := places[i].commit
		if !o.Found || done[commit] {
			return
		}
		done[commit] = true
		doc, ok := decode(o.Data)
		if !ok {
			b.Unreadable = append(b.Unreadable, commit)
			return
		}
		list := doc.Objects("sessions")
		if len(list) == 0 { // the older form: one session, in this file
			b.touched(commit, doc, doc)
		}
		for _, s := range list[:min(len(list), maxSessions)] {
			sessions = append(sessions, session{commit, doc})
			files = append(files, places[i].dir+path.Base(path.Dir(s.String("metadata")))+"/metadata.json")
		}
	})
	if err != nil {
		return err
	}
	return repo.ReadNamed(ctx, files, func(i int, o git.Named) {
		doc, ok := decode(o.Data)
		if !o.Found || !ok {
			b.Unreadable = append(b.Unreadable, sessions[i].commit)
			return
		}
		b.touched(sessions[i].commit, doc, sessions[i].whole)
	})
}

// touched notes the files of a session, or those of the whole checkpoint where the session names none.
func (b *Book) touched(commit object.OID, session, whole *ojson.Object) {
	claim := Claim{
		Source:  Entire,
		Agent:   session.String("agent"),
		Model:   session.String("model"),
		Session: cmp.Or(session.String("session_id"), whole.String("session_id")),
		Whole:   true,
	}
	files := session.Strings("files_touched")
	if len(files) == 0 {
		files = whole.Strings("files_touched")
	}
	for _, file := range files {
		b.commits[commit] = append(b.commits[commit], said{Claim: claim, path: file})
	}
}
