// Work in progress in an artifact: uncommitted files of the project, included on request and written only when a
// person says yes (docs/restore.md#work-in-progress).

package restore

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeWorkUndecided means that an artifact has work in progress, and no person said whether to write it.
const CodeWorkUndecided = "work_undecided"

// Limits on the work in progress of one artifact: anything larger should be committed. They apply to exporting and
// to other exporters' artifacts.
const (
	maxWorkFiles = 2000
	maxWorkBytes = 32 << 20
	maxWorkValue = 64 << 20 // of the member, which holds them in base64
)

// What work in progress does to a file.
const (
	workWrite  = "write"
	workDelete = "delete"
)

// workFile is one file of the work in progress.
type workFile struct {
	path, change string
	exec         bool
	content      []byte
	digest       string
}

// work collects the changes of the checkout that are not governed. What cannot be included stays a blocker, with
// the reason in a notice.
func (r *runExport) work(status *gitstatus.Status, dirty []string) error {
	leave := func(p, why string) {
		r.e.Notices = append(r.e.Notices, "Not carried as work in progress: "+p+" "+why)
	}
	total := 0
	var search secretSearch
	search.allowed = r.opt.AllowSecrets
	var rules pathRules
	for _, p := range dirty {
		if restorable(strings.TrimSuffix(p, "/")) {
			continue
		}
		d := status.Dirty[p]
		if why := workPath(p); why != "" || rules.unique(p) != nil {
			leave(p, "has a name that a restore refuses")
			continue
		}
		fi, err := r.root.Lstat(p)
		switch {
		case d.Unmerged:
			leave(p, "is in conflict")
		case d.Submodule:
			leave(p, "is a submodule")
		case git.Absent(err):
			r.carried = append(r.carried, workFile{path: p, change: workDelete})
		case err != nil:
			return failed(p, "cannot be examined: %v", err)
		case !fi.Mode().IsRegular():
			leave(p, "is not a regular file")
		case len(r.carried) == maxWorkFiles:
			leave(p, fmt.Sprintf("is one of more than %d files", maxWorkFiles))
		case total+int(min(fi.Size(), maxWorkBytes+1)) > maxWorkBytes:
			leave(p, fmt.Sprintf("makes it more than %d bytes: commit it", maxWorkBytes))
		default:
			data, err := readWork(r.root, p)
			if err != nil {
				return failed(p, "cannot be read: %v", err)
			}
			total += len(data)
			search.search(p, data)
			r.carried = append(r.carried, workFile{path: p, change: workWrite, exec: fi.Mode()&0o111 != 0,
				content: data,
				digest:  wire.SHA256(data)})
		}
	}
	return search.refusal()
}

func readWork(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxWorkBytes))
}

// workPath says why a path may not be written as work in progress, "" if it may.
func workPath(p string) string {
	if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\\\x00\ufffd") || p[0] == '/' {
		return "it is not the path of a file in the project"
	}
	for part := range strings.SplitSeq(p, "/") {
		if why := badSegment(part); why != "" {
			return why
		}
	}
	if first, _, _ := strings.Cut(wire.FoldPath(p), "/"); first == ".agentxchain" || restorable(p) {
		return "it is among the governed files"
	}
	return ""
}

// withoutCarried returns the blockers that the work in the artifact does not remove.
func withoutCarried(blockers []string, work []workFile) []string {
	carried := make(map[string]bool)
	for _, f := range work {
		carried[f.path] = true
	}
	return slices.DeleteFunc(slices.Clone(blockers), func(why string) bool {
		p, ok := strings.CutPrefix(why, blockerDirty)
		return ok && carried[p]
	})
}

// workMember returns the member for an artifact.
func workMember(files []workFile, head string) []byte {
	rows := []*ojson.Object{}
	for _, f := range files {
		o := ojson.NewObject("path", f.path, "change", f.change)
		if f.change == workWrite {
			o.Set("executable", f.exec)
			o.Set("bytes", len(f.content))
			o.Set("sha256", f.digest)
			o.Set("content_base64", base64.StdEncoding.EncodeToString(f.content))
		}
		rows = append(rows, o)
	}
	return append(memberName(false, "work"), ojson.Compact(ojson.NewObject("head_sha", head, "files", rows))...)
}

// readWorkMember reads the member and returns its problems.
func readWorkMember(v any) (files []workFile, found []Finding) {
	bad := func(path, format string, args ...any) {
		found = append(found, Finding{path, fmt.Sprintf(format, args...)})
	}
	list, ok := get(objectOf(v), "files").([]any)
	if !ok {
		bad("work.files", "the work in progress is not a list of files")
		return nil, found
	}
	if len(list) > maxWorkFiles {
		bad("work.files", "there are %d files, more than any exporter writes", len(list))
		return nil, found
	}
	total := 0
	for i, item := range list {
		at, o := fmt.Sprintf("work.files[%d]", i), objectOf(item)
		f := workFile{path: o.String("path"), change: o.String("change"), exec: o.Bool("executable"),
			digest: o.String("sha256")}
		if why := workPath(f.path); why != "" {
			bad(at+".path", "%q may not be written: %s", text.Clip(f.path, 200), why)
			continue
		}
		switch f.change {
		case workDelete:
		case workWrite:
			data, err := base64.StdEncoding.Strict().DecodeString(o.String("content_base64"))
			if total += len(data); total > maxWorkBytes {
				bad(at, "the files have more than %d bytes, more than any exporter writes", maxWorkBytes)
				return nil, found
			}
			if err != nil || wire.SHA256(data) != f.digest || get(o, "bytes") == nil ||
				string(ojson.Compact(get(o, "bytes"))) != fmt.Sprint(len(data)) {
				bad(at, "length or digest are not those of the content")
				continue
			}
			f.content = data
		default:
			bad(at+".change", "the change of the file is unknown: %s", show(get(o, "change")))
			continue
		}
		files = append(files, f)
	}
	return files, found
}

// takeWork decides whether the work in progress of the artifact is part of the restore.
func (t *restoring) takeWork() error {
	if t.a == nil || len(t.a.work) == 0 {
		return nil
	}
	var names []string
	for _, f := range t.a.work {
		names = append(names, f.path)
		t.out.Work = append(t.out.Work, RestoredWork{Path: f.path, Change: f.change})
	}
	if !t.opt.Plan && !t.opt.DryRun {
		yes, decided := false, false
		if t.opt.Work != nil {
			var err error
			question := fmt.Sprintf("The artifact carries work in progress on %s: %s.", text.Count(len(names), "file",
				"files"), someOf(names, 20))
			if yes, decided, err = t.opt.Work(question); err != nil {
				return err
			}
		}
		if !decided {
			return &wire.Error{
				Code:  CodeWorkUndecided,
				Field: "work",
				Message: fmt.Sprintf("The artifact carries work in progress on %s.", text.Count(len(names), "file",
					"files")),
				Hint: "git agentxchain restore --plan lists them; --with-work writes them, --without-work restores the run alone",
			}
		}
		if !yes {
			return nil
		}
	}
	t.out.WithWork = true
	for _, f := range t.a.work {
		t.in.Roots = append(t.in.Roots, f.path)
		if f.change == workDelete {
			continue
		}
		t.more[f.path] = f.content
		perm := os.FileMode(0o666)
		if f.exec {
			perm = 0o777
		}
		t.in.Files = append(t.in.Files, incoming.File{Path: f.path, Size: int64(len(f.content)),
			SHA256: f.digest, Perm: perm})
	}
	incoming.Sort(t.in.Files)
	t.in.Detail.Set("work", len(t.a.work))
	return nil
}

// RestoredWork is a file of the work in progress in an artifact.
type RestoredWork struct{ Path, Change string }

// isWork reports whether the restore writes or removes a path as work in progress. A path that ends in a slash
// includes everything below it.
func (t *restoring) isWork(p string) bool {
	if !t.out.WithWork {
		return false
	}
	return slices.ContainsFunc(t.out.Work, func(w RestoredWork) bool {
		return w.Path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(w.Path, p)
	})
}
