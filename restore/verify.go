// Verifying an artifact: reading its members, and the checks common to all kinds
// (docs/export.md#what-verification-proves).

package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// VerifyOptions limits and observes a verification; the command uses the zero value.
type VerifyOptions struct {
	MaxBytes int64       // of the artifact, decompressed; 1 TiB when 0
	MaxFile  int64       // of one file's content; 2 GiB when 0
	MaxSpill int64       // of temporary disk space; 16 GiB when 0
	Progress func(int64) // called with the number of bytes read so far
}

// Verify checks an artifact of schema 0.2 or 0.3, of a run or a coordinator, plain or compressed with zstd. It
// needs memory for the largest single file, whatever the artifact's size, and no seeking: r may be a pipe.
//
// The error is an *InputError when there is no artifact to judge, or ctx's cause.
func Verify(ctx context.Context, r io.Reader, opt VerifyOptions) (*Report, error) {
	_, report, err := verifyArtifact(ctx, r, opt, wanted{})
	return report, err
}

// wanted is what a caller wants from an artifact besides its verdict.
type wanted struct {
	repo string // from the artifact of this repository in that of an initiative; "" for its own

	// take is called with each file entry; content holds its bytes, if any, until take returns. nil: the caller
	// does not want the files.
	take func(path string, e *entry, content []byte) error
	keep func(content []byte) error // called with the record; may also be nil
}

// verifyArtifact is Verify that also returns what was read, and passes on what is wanted.
func verifyArtifact(ctx context.Context, r io.Reader, opt VerifyOptions, want wanted) (*artifact, *Report, error) {
	if opt.MaxBytes == 0 {
		opt.MaxBytes = 1 << 40
	}
	if opt.MaxFile == 0 {
		opt.MaxFile = 2 << 30
	}
	if opt.MaxSpill == 0 {
		opt.MaxSpill = 16 << 30
	}
	if f, ok := r.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			var done func()
			r, done = readAhead(f)
			defer done()
		}
	}
	raw := &counting{ctx: ctx, r: r, tell: opt.Progress}
	src, done, err := open(raw)
	if err != nil {
		return nil, nil, &InputError{Message: "The artifact cannot be decompressed: " + err.Error(), Err: err}
	}
	defer done()
	v := &verifier{
		opt:    opt,
		report: &Report{},
		want:   want,
		r:      scan.New(&counting{ctx: ctx, r: src, max: opt.MaxBytes, raw: raw}, scan.Limits{}),
	}
	a, err := v.artifact("", false)
	if err == nil {
		err = v.r.End()
	}
	if err != nil {
		return nil, nil, inputError(ctx, err)
	}
	v.report.SchemaVersion, v.report.ExportKind = a.schema, a.kind
	v.report.FileCount, v.report.RepoCount = a.fileCount, len(a.repos)
	for _, f := range a.findings() {
		v.find(f)
	}
	v.report.Unproven, v.report.LeftOut = a.unproven, a.leftOut()
	return a, v.report, nil
}

func inputError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*wire.Error](err); ok {
		return err
	}
	if syntax, ok := errors.AsType[*scan.SyntaxError](err); ok {
		if syntax.Empty() {
			return &InputError{Message: "The artifact is empty; git agentxchain export -o FILE writes one.", Err: err}
		}
		return &InputError{Message: "The artifact is not JSON that can be relied on: " + err.Error(), Err: err}
	}
	return &InputError{Message: "The artifact cannot be read: " + err.Error(), Err: err}
}

type verifier struct {
	opt     VerifyOptions
	report  *Report
	r       *scan.Reader
	content []byte // of the current file, reused
	want    wanted
	depth   int // number of enclosing artifacts
	lossy   []byte
}

// wants reports whether the artifact being read, of a repository when repo is not "", is the one whose files are
// wanted.
func (v *verifier) wants(repo string) bool {
	return repo == v.want.repo && v.depth == min(len(repo), 1)
}

func (v *verifier) find(f Finding) {
	if len(v.report.Findings) == maxFindings {
		v.report.More++
		return
	}
	v.report.Findings = append(v.report.Findings, f)
}

// maxValue bounds the members that are read whole: the configuration, the state, the summary. None of them comes
// near it.
const maxValue = 32 << 20

// artifact holds what is known about an artifact, or an embedded one, after reading it.
type artifact struct {
	list []Finding

	isObject                 bool
	schema, kind, exportedAt any
	projectRoot, project     any
	workspaceRoot            any
	coordinator              any
	summary                  any // without aggregated_events
	aggregated               *aggregated
	workspace, config, state any
	work                     []workFile
	badWork                  []Finding   // problems of the work in progress
	record                   *recordRead // nil for none

	filesOK   bool
	fileCount int
	inFiles   map[string]bool // paths that checks ask for
	dispatch  int
	staging   int
	intake    bool
	multi     bool
	rows      map[string]int // file -> number of entries, for arrays only
	sums      map[string]scan.Digest
	documents map[string]any
	history   delegations
	decisions []*ojson.Object
	events    []event
	fileFound []Finding
	unproven  []string
	cut       []string // what was left out, in words

	reposOK bool
	repos   []*repoEntry
}

func (a *artifact) add(path, format string, args ...any) {
	a.list = append(a.list, Finding{path, fmt.Sprintf(format, args...)})
}

// leftOut returns what was left out of an artifact and of those embedded in it.
func (a *artifact) leftOut() []string {
	out := slices.Clone(a.cut)
	for _, e := range a.repos {
		if e.nested == nil || e.ok != any(true) {
			continue
		}
		for _, c := range e.nested.leftOut() {
			out = append(out, e.id+": "+c)
		}
	}
	return out[:min(len(out), maxFindings)]
}

// artifact reads the artifact that comes next. repo is a coordinator's name for it; events says whether to collect
// its events.
func (v *verifier) artifact(repo string, events bool) (*artifact, error) {
	no := absent{}
	a := &artifact{
		schema:        no,
		kind:          no,
		exportedAt:    no,
		projectRoot:   no,
		project:       no,
		workspaceRoot: no,
		coordinator:   no,
		summary:       no,
		workspace:     no,
		config:        no,
		state:         no,
		inFiles:       make(map[string]bool),
		rows:          make(map[string]int),
		sums:          make(map[string]scan.Digest),
		documents:     make(map[string]any),
	}
	into := map[string]*any{
		"schema_version": &a.schema,
		"export_kind":    &a.kind,
		"exported_at":    &a.exportedAt,
		"project_root":   &a.projectRoot,
		"project":        &a.project,
		"workspace_root": &a.workspaceRoot,
		"coordinator":    &a.coordinator,
		"workspace":      &a.workspace,
		"config":         &a.config,
		"state":          &a.state,
	}
	var err error
	a.isObject, err = v.r.Members(func(key string) (err error) {
		switch key {
		case "summary":
			err = v.summary(a)
		case "files":
			err = v.files(a, repo, events)
		case "repos":
			err = v.repos(a)
		case "work":
			var work any
			work, err = v.r.Value(maxWorkValue)
			a.work, a.badWork = readWorkMember(work)
		case recordMember:
			keep := v.want.keep
			if !v.wants(repo) {
				keep = nil
			}
			err = v.record(a, keep)
		default:
			if p := into[key]; p != nil {
				*p, err = v.r.Value(maxValue)
			} else {
				err = v.r.Skip()
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// aggregated is summary.aggregated_events; of the events themselves only digests are kept.
type aggregated struct {
	value  any
	array  bool // events is an array
	events []scan.Digest
}

// summary reads the summary of an artifact.
func (v *verifier) summary(a *artifact) error {
	o, err := v.members(func(key string) (bool, error) {
		if key != "aggregated_events" {
			return false, nil
		}
		a.aggregated = &aggregated{}
		var err error
		a.aggregated.value, err = v.members(func(key string) (bool, error) {
			if key != "events" {
				return false, nil
			}
			if kind, err := v.r.Kind(); err != nil || kind != "array" {
				return false, err
			}
			a.aggregated.array, err = v.r.Items(func() error {
				d, err := scan.Sum(v.r)
				a.aggregated.events = append(a.aggregated.events, d)
				return err
			})
			return true, err
		})
		return true, err
	})
	a.summary = o
	return err
}

// members reads a value, an object member by member: those that special takes are left out of the result.
func (v *verifier) members(special func(key string) (taken bool, err error)) (any, error) {
	if kind, err := v.r.Kind(); err != nil {
		return nil, err
	} else if kind != "object" {
		return v.r.Value(maxValue)
	}
	o := &ojson.Object{}
	left := maxValue
	_, err := v.r.Members(func(key string) error {
		if taken, err := special(key); err != nil || taken {
			return err
		}
		at := v.r.Offset()
		value, err := v.r.Value(left)
		left -= int(v.r.Offset() - at)
		o.Set(key, value)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// findings judges what was read, in the order of docs/export.md#what-verification-proves.
func (a *artifact) findings() []Finding {
	if !a.isObject {
		a.add("artifact", "not a JSON object")
		return a.list
	}
	if a.schema != any("0.2") && a.schema != any(SchemaVersion) {
		a.add("schema_version", "only 0.2 and 0.3 are known, this is %s", show(a.schema))
	}
	kind, isString := a.kind.(string)
	if !isString {
		a.add("export_kind", "the kind is missing or not text")
	}
	if !isTime(a.exportedAt) {
		a.add("exported_at", "the time of the export is missing or not an ISO 8601 time")
	}
	if objectOf(a.config) == nil {
		a.add("config", "the configuration is missing or not an object")
	}
	if !a.filesOK {
		a.add("files", "the files are missing or not an object of paths")
	}
	a.list = append(a.list, a.fileFound...)
	switch kind {
	case KindRun:
		a.checkRun()
	case KindCoordinator:
		a.checkCoordinator()
	default:
		a.add("export_kind", "this kind of artifact is not known: %s", show(a.kind))
	}
	return a.list
}

// isTime reports whether a string is a time of ISO 8601 or RFC 3339 (docs/export.md). It also accepts what the
// clock of a run never writes: lower-case letters, a space before the hour, six-digit years, the midnight that ends
// a day.
func isTime(v any) bool {
	s, ok := v.(string)
	if !ok || len(s) > 40 {
		return false
	}
	const day = len("2006-01-02")
	b := []byte(strings.TrimPrefix(s, "+00"))
	if len(b) > day && (b[day] == ' ' || b[day] == 't') {
		b[day] = 'T'
	}
	if last := len(b) - 1; last > day && b[last] == 'z' {
		b[last] = 'Z'
	}
	if clock := b[min(len(b), day):]; bytes.HasPrefix(clock, []byte("T24:00")) &&
		!bytes.ContainsAny(clock[len("T24"):min(len(clock), len("T24:00:00"))], "123456789") {
		copy(clock, "T00")
	}
	_, err := wire.ParseTime(string(b))
	return err == nil
}

// show quotes a value in a message, truncated.
func show(v any) string {
	if _, ok := v.(absent); ok {
		return "missing"
	}
	s := string(ojson.Compact(v))
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}
