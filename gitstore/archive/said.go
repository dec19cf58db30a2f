package archive

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Statements that witnesses signed about archived runs lie beside the list, in the tree of its commit: a directory
// for each run, with a file for each statement, named after its content. Two sides are therefore joined by keeping
// everything from both.
const (
	saidDir    = "witnesses"
	saidSuffix = ".dsse.json"

	// maxSaid bounds how many statements are read for one run.
	maxSaid = 10_000
)

// SaidAt returns the tree of witness statements in the commit of a list, "" for none.
func SaidAt(ctx context.Context, r *git.Repository, commit object.OID) (object.OID, error) {
	tree, err := treeAt(ctx, r, commit)
	if err != nil {
		return "", err
	}
	return subtree(tree, saidDir), nil
}

// SaidOf returns the trees of statements by run, from the tree that SaidAt returns.
func SaidOf(ctx context.Context, r *git.Repository, said object.OID) (map[string]object.OID, error) {
	out := make(map[string]object.OID)
	list, err := readTree(ctx, r, said)
	for _, e := range list {
		if e.IsTree() && git.BadRunID(e.Name) == "" {
			out[e.Name] = e.OID
		}
	}
	return out, err
}

// Statements reads the statements of one run, sorted by name. Foreign files are not trusted to be statements.
func Statements(ctx context.Context, r *git.Repository, of object.OID) ([][]byte, error) {
	list, err := readTree(ctx, r, of)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, e := range list {
		if e.Mode != object.ModeFile || !strings.HasSuffix(e.Name, saidSuffix) || len(out) == maxSaid {
			continue
		}
		_, data, err := r.Objects().Read(ctx, e.OID)
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// AddSaid adds statements of runs to those in the tree said and returns the new tree.
func AddSaid(ctx context.Context, r *git.Repository, said object.OID, statements map[string][][]byte) (object.OID,
	error) {
	var objects []object.Object
	var top []object.TreeEntry
	for run, list := range statements {
		var files []object.TreeEntry
		for _, data := range list {
			o := object.New(r.ObjectFormat, object.KindBlob, bytes.Clone(data))
			objects = append(objects, o)
			name := wire.SHA256(data) + saidSuffix
			files = append(files, object.TreeEntry{Name: name, Mode: object.ModeFile, OID: o.OID})
		}
		if len(files) > 0 {
			o := treeOf(r, files)
			objects = append(objects, o)
			top = append(top, object.TreeEntry{Name: run, Mode: object.ModeTree, OID: o.OID})
		}
	}
	if len(top) == 0 {
		return said, nil
	}
	o := treeOf(r, top)
	if err := r.Objects().Write(ctx, append(objects, o)); err != nil {
		return "", err
	}
	return JoinSaid(ctx, r, said, o.OID)
}

// JoinSaid writes the tree with the statements of both trees, and returns it.
func JoinSaid(ctx context.Context, r *git.Repository, a, b object.OID) (object.OID, error) {
	both, objects, err := joinTrees(ctx, r, a, b, 1)
	if err != nil || len(objects) == 0 {
		return both, err
	}
	return both, r.Objects().Write(ctx, objects)
}

// HoldsSaid reports whether the tree all contains every statement of the tree some.
func HoldsSaid(ctx context.Context, r *git.Repository, all, some object.OID) (bool, error) {
	both, _, err := joinTrees(ctx, r, all, some, 1)
	return both == all, err
}

// joinTrees joins two trees, and their directories down to a depth. Of two files with one name it keeps the one
// with the lower id: names follow from content, so only files that are not statements can clash.
func joinTrees(ctx context.Context, r *git.Repository, a, b object.OID, deep int) (object.OID, []object.Object,
	error) {
	if a == b || b == "" {
		return a, nil, nil
	}
	if a == "" {
		return b, nil, nil
	}
	ours, err := readTree(ctx, r, a)
	if err != nil {
		return "", nil, err
	}
	theirs, err := readTree(ctx, r, b)
	if err != nil {
		return "", nil, err
	}
	at := make(map[string]int, len(ours))
	both := slices.Clone(ours)
	for i, e := range both {
		at[e.Name] = i
	}
	var objects []object.Object
	for _, e := range theirs {
		i, known := at[e.Name]
		switch {
		case !known:
			both = append(both, e)
		case both[i].OID == e.OID && both[i].Mode == e.Mode:
		case both[i].IsTree() && e.IsTree() && deep > 0:
			oid, more, err := joinTrees(ctx, r, both[i].OID, e.OID, deep-1)
			if err != nil {
				return "", nil, err
			}
			both[i].OID, objects = oid, append(objects, more...)
		case e.OID < both[i].OID:
			both[i] = e
		}
	}
	o := treeOf(r, both)
	if o.OID == a || o.OID == b {
		return o.OID, objects, nil
	}
	return o.OID, append(objects, o), nil
}

func treeOf(r *git.Repository, entries []object.TreeEntry) object.Object {
	// Git orders directories as if their names ended in a slash.
	key := func(e object.TreeEntry) string {
		if e.IsTree() {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return cmp.Compare(key(a), key(b)) })
	return object.New(r.ObjectFormat, object.KindTree, object.EncodeTree(entries))
}

// readTree reads a tree; "" has no entries.
func readTree(ctx context.Context, r *git.Repository, oid object.OID) ([]object.TreeEntry, error) {
	if oid == "" {
		return nil, nil
	}
	_, data, err := r.Objects().Read(ctx, oid)
	if err != nil {
		return nil, err
	}
	tree, err := object.ParseTree(r.ObjectFormat, data)
	if err != nil {
		return nil, object.Corrupt(oid, err)
	}
	return tree, nil
}

// treeAt returns the entries of a commit's tree; "" has none.
func treeAt(ctx context.Context, r *git.Repository, commit object.OID) ([]object.TreeEntry, error) {
	if commit == "" {
		return nil, nil
	}
	kind, data, err := r.Objects().Read(ctx, commit)
	if err != nil {
		return nil, err
	}
	if kind != object.KindCommit {
		return nil, fail.Errorf(fail.CodeRefBroken, nil, "%s is a %s, not a list of archived runs", commit.Short(), kind)
	}
	c, err := object.ParseCommit(r.ObjectFormat, data)
	if err != nil {
		return nil, object.Corrupt(commit, err)
	}
	return readTree(ctx, r, c.Tree)
}

func subtree(tree []object.TreeEntry, name string) object.OID {
	for _, e := range tree {
		if e.Name == name && e.IsTree() {
			return e.OID
		}
	}
	return ""
}
