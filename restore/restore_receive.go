// Receiving an artifact: verified in one pass, its files kept outside the project until everything is known to be
// good.

package restore

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxRestoreFiles bounds the list of files in memory.
const maxRestoreFiles = 200_000

// taken is a received artifact.
type taken struct {
	a       *artifact
	spool   *spool
	files   []incoming.File
	at      map[string]int64 // where a file's bytes begin
	without []string         // files whose bytes were left out
	skipped []string         // files that no machine accepts from another
	paths   pathRules
	work    []workFile // work in progress
	refused error      // error for the first path that may not be written

	hasRecord            bool // with the position of its bytes in the spool
	recordAt, recordSize int64
}

func (in *taken) Close() { in.spool.Close() }

// receive verifies the artifact in r and keeps its files, or those of one repository when repo is not "".
func receive(ctx context.Context, r io.Reader, repo string, opt VerifyOptions) (_ *taken, err error) {
	in := &taken{at: make(map[string]int64)}
	if in.spool, err = newSpool("", false); err != nil {
		return nil, temporary(err)
	}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	a, report, err := verifyArtifact(ctx, r, opt, wanted{repo: repo, take: in.take, keep: in.keepRecord})
	if err != nil {
		return nil, err
	}
	if !report.Passed() {
		return nil, unverified(report)
	}
	if in.a, err = a.of(repo); err != nil {
		return nil, err
	}
	if err := in.spool.w.Flush(); err != nil {
		return nil, temporary(err)
	}
	in.work = in.a.work
	for _, f := range in.work {
		if err := in.paths.unique(f.path); err != nil && in.refused == nil {
			in.refused = err
		}
	}
	debug.FreeOSMemory() // others will read the largest file again
	incoming.Sort(in.files)
	return in, nil
}

// unverified lists the first findings, as many as a person reads.
func unverified(report *Report) error {
	const most = 20
	e := &wire.Error{
		Code:  CodeUnverified,
		Field: "input",
		Hint:  "git agentxchain verify export FILE lists everything; get the artifact again from where it was made",
	}
	var lines []string
	for i, f := range report.Findings {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(report.Findings)-most+report.More))
			break
		}
		lines = append(lines, f.String())
		e.Problems = append(e.Problems, wire.Problem{Code: CodeUnverified, Field: f.Path, Message: f.String()})
	}
	e.Message = "The artifact does not verify: " + strings.Join(lines, "; ")
	return e
}

// take keeps one file entry; content is only valid during the call.
func (in *taken) take(path string, e *entry, content []byte) error {
	if path == pidFile || path == dashboardFile {
		in.skipped = append(in.skipped, path)
		return nil
	}
	if in.refused == nil {
		in.refused = in.paths.check(path)
	}
	if in.refused == nil && len(in.files) == maxRestoreFiles {
		in.refused = &wire.Error{
			Code:    CodeUnsafePath,
			Field:   "files",
			Message: fmt.Sprintf("The artifact has more than %d files, which no run has.", maxRestoreFiles),
		}
	}
	if in.refused != nil {
		return nil
	}
	if e.content != true {
		in.without = append(in.without, path)
		return nil
	}
	in.at[path] = in.spool.n
	in.files = append(in.files, incoming.File{Path: path, Size: int64(len(content)), SHA256: e.digest})
	if _, err := in.spool.Write(content); err != nil {
		return temporary(err)
	}
	return nil
}

// open returns the bytes of a file.
func (in *taken) open(path string) (io.Reader, error) {
	f, ok := incoming.Find(in.files, path)
	if !ok {
		return nil, fmt.Errorf("%s is not in the artifact", path)
	}
	return io.NewSectionReader(in.spool.file, in.at[path], f.Size), nil
}

func (in *taken) summary() *ojson.Object { return objectOf(in.a.summary) }

// git returns workspace.git, nil if it is missing.
func (in *taken) git() *ojson.Object { return objectOf(get(objectOf(in.a.workspace), "git")) }

func (in *taken) head() string       { return in.git().String("head_sha") }
func (in *taken) run() string        { return in.summary().String("run_id") }
func (in *taken) status() string     { return in.summary().String("status") }
func (in *taken) exportedAt() string { s, _ := in.a.exportedAt.(string); return s }
func (in *taken) projectID() string {
	return objectOf(get(objectOf(in.a.config), "project")).String("id")
}

// restorable checks everything in docs/restore.md#what-is-checked-in-this-order that does not need a checkout.
func (in *taken) restorable() error {
	kind, _ := in.a.kind.(string)
	if kind != KindRun {
		e := &wire.Error{
			Code:    CodeKind,
			Field:   "export_kind",
			Message: fmt.Sprintf("Only the artifact of a run can be restored, and this is %s.", show(in.a.kind)),
		}
		if kind == KindCoordinator {
			e.Message = "This artifact is of an initiative with several repositories: " + someOf(in.a.held(), 20) + "."
			e.Hint = "git agentxchain restore FILE --repo ID, in a clone of one of them, restores its run; " +
				"git agentxchain multi restore --input FILE, in the workspace, the initiative"
		}
		return e
	}
	git := in.git()
	if git == nil {
		return &wire.Error{
			Code:    CodeNoWorkspace,
			Field:   "workspace.git",
			Message: "The artifact does not say which commit it was made at (workspace.git is missing), so it cannot be told whether it fits here.",
			Hint:    "artifacts of schema 0.2 lack it: export the run again, with this version",
		}
	}
	why := withoutCarried(git.Strings("restore_blockers"), in.work)
	if !git.Bool("restore_supported") && (len(why) > 0 || len(in.work) == 0) {
		e := &wire.Error{
			Code:    CodeUnsupported,
			Field:   "workspace.git.restore_supported",
			Message: "The artifact says of itself that it cannot be restored, without a reason.",
		}
		if len(why) > 0 {
			e.Message = "The artifact cannot be restored. Its exporter says: " + strings.Join(why, "; ")
			e.Hint = "put that right where it was made, then export again"
		}
		for _, w := range why {
			e.Problems = append(e.Problems, wire.Problem{
				Code:    CodeUnsupported,
				Field:   "workspace.git.restore_blockers",
				Message: w,
			})
		}
		return e
	}
	if in.a.fileCount == 0 {
		return &wire.Error{Code: CodeNothing, Field: "files", Message: "The artifact holds no files to restore."}
	}
	if in.refused != nil {
		return in.refused
	}
	if len(in.without) > 0 || in.summary().Bool("export_files_truncated") {
		e := &wire.Error{
			Code:    CodeContentMissing,
			Field:   "files",
			Message: "Files were left out of the artifact when it was made; restoring it would delete the rest.",
			Hint:    "export again without --max-files and --max-jsonl-entries",
		}
		if n := len(in.without); n > 0 {
			e.Message = "The artifact does not carry the bytes of " + someOf(in.without,
				10) + ", so it cannot be restored."
			e.Field = "files." + in.without[0]
		}
		return e
	}
	if len(in.files) == 0 {
		return &wire.Error{Code: CodeNothing, Field: "files", Message: "The artifact holds no files to restore."}
	}
	return nil
}

// someOf joins the first names of a list.
func someOf(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
