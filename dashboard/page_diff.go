// The files of a turn and how they differ.

package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// maxTurnFiles bounds the files of a turn on its page.
const maxTurnFiles = 2 * pageSize

// changed returns the files of the turn, and the diff of the commit that holds them.
func (v *view) changed(row *ojson.Object) block {
	b := block{ID: "files", Title: "Files", Empty: "No file was changed."}
	names := row.Strings("files_changed")
	sha := row.String("checkpoint_sha")
	if len(names) == 0 && sha == "" {
		return b
	}
	b.Empty = ""
	base := strings.TrimPrefix(row.Object("observed_artifact").String("baseline_ref"), "git:")
	ctx, cancel := context.WithTimeout(v.r.Context(), 10*time.Second)
	defer cancel()
	release, ok := v.srv.slot(ctx)
	if !ok {
		b.Note, b.Table = "The diff takes too long to read just now; reload.", fileNames(names)
		return b
	}
	defer release()
	var files []runner.FileStat
	var patch []byte
	var cutOff bool
	var err error
	what, show := "Diff of commit "+short(sha), "git show "+sha
	if sha == "" {
		what, show = "How the files differ now from the commit the turn started from", "git diff "+base
		b.Note = "The turn's files are not committed yet: git agentxchain checkpoint " + plain(row.String("turn_id"))
		files, patch, cutOff, err = v.m.src.work(ctx, base, ofProject(names))
	} else {
		files, patch, cutOff, err = v.m.src.diff(ctx, sha)
	}
	switch {
	case errors.Is(err, errNoRecord) && sha != "":
		b.Note, b.Table = "An artifact has no diffs: what was committed at "+plain(short(sha))+
			" is in the project's repository.", fileNames(names)
		return b
	case errors.Is(err, errNoRecord):
		b.Note, b.Table = "The turn's files were not committed when the artifact was made, and an artifact has no diffs.",
			fileNames(names)
		return b
	case err != nil:
		b.Note, b.Table = "There is no diff: "+plain(err.Error()), fileNames(names)
		return b
	}
	b.Table = &table{Head: []string{"File", "Lines added", "Lines removed"}}
	for i, f := range files {
		if i == maxTurnFiles {
			b.Note = fmt.Sprintf("The first %d of %d files.", i, len(files))
			break
		}
		name := f.Path
		if f.From != "" {
			name = f.From + " → " + f.Path
		}
		add, del := text(fmt.Sprint(f.Added)), text(fmt.Sprint(f.Removed))
		if f.Added < 0 {
			add, del = text("binary"), text("binary")
		}
		b.Table.Rows = append(b.Table.Rows, []cell{code(name), add, del})
	}
	if sha == "" {
		patch = append(patch, v.unknownToGit(names, files, b.Table)...)
	}
	if len(b.Table.Rows) == 0 {
		b.Table = nil
		if sha != "" {
			b.Note = "Commit " + plain(short(sha)) + " changes nothing below the project."
		}
	}
	lines, more := diffLines(string(bytes.ToValidUTF8(patch, []byte("\uFFFD"))))
	part := block{ID: "diff", Title: plain(what), Folded: strings.Count(string(patch), "\n") > 400, Diff: lines}
	if more || cutOff {
		part.Note = "The diff is longer than is shown here: " + plain(show)
	}
	if len(lines) > 0 || cutOff {
		b.Parts = []block{part}
	}
	return b
}

func fileNames(names []string) *table {
	t := &table{Head: []string{"File"}}
	for i, n := range names {
		if i == maxTurnFiles {
			t.Rows = append(t.Rows, []cell{text(fmt.Sprintf("and %d more", len(names)-i))})
			break
		}
		t.Rows = append(t.Rows, []cell{code(n)})
	}
	return t
}

// ofProject returns the names that can be files of the project.
func ofProject(names []string) (out []string) {
	for _, n := range names {
		if clean, problem := wire.CleanPath(n); problem == "" {
			out = append(out, clean)
		}
	}
	return out
}

// unknownToGit adds files that git does not know yet, as a patch that creates them.
func (v *view) unknownToGit(names []string, known []runner.FileStat, t *table) []byte {
	var out []byte
	for _, n := range ofProject(names) {
		if slices.ContainsFunc(known, func(f runner.FileStat) bool { return f.Path == n }) ||
			len(t.Rows) >= maxTurnFiles || len(out) > maxPatch {
			continue
		}
		data, err := readSmall(v.m.root, n, maxPre)
		if err != nil || data == nil {
			continue // gone, or too large to show
		}
		if bytes.IndexByte(data, 0) >= 0 {
			t.Rows = append(t.Rows, []cell{code(n), text("binary"), text("binary")})
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		t.Rows = append(t.Rows, []cell{code(n), text(fmt.Sprint(len(lines))), text("0")})
		out = fmt.Appendf(out, "diff --git a/%[1]s b/%[1]s\nnew file\n@@ -0,0 +1,%[2]d @@\n", n, len(lines))
		for _, l := range lines {
			out = append(append(append(out, '+'), bytes.TrimSuffix(l, []byte("\n"))...), '\n')
		}
	}
	return out
}
