// The coordinator's files in the artifact of an initiative.

package restore

import (
	"bytes"
	"context"
	"io"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// InitiativeFiles verifies the artifact of an initiative, with the runs inside it, and returns
// the coordinator's own files by their paths in the workspace.
//
// Errors: an *InputError when there is no artifact, artifact_unverified, artifact_kind,
// content_missing, unsafe_path.
func InitiativeFiles(ctx context.Context, r io.Reader) (map[string][]byte, error) {
	files := make(map[string][]byte)
	var refused error
	known := make(map[string]bool)
	for _, name := range coordinatorRoots() {
		known[name] = true
	}
	a, report, err := verifyArtifact(ctx, r, VerifyOptions{},
		wanted{take: func(path string, e *entry, content []byte) error {
			switch {
			case !known[path]:
				// A run's artifact is refused by its kind.
				refused = unsafePath(path, "it is not among the coordinator's files")
			case e.content != true:
				refused = &wire.Error{
					Code:    CodeContentMissing,
					Field:   "files." + path,
					Message: "The artifact does not carry the bytes of " + path + ", so it cannot be restored.",
					Hint:    "export again without --max-files and --max-jsonl-entries",
				}
			default:
				files[path] = bytes.Clone(content)
			}
			return nil
		}})
	switch kind := a.kindOf(); {
	case err != nil:
		return nil, err
	case !report.Passed():
		return nil, unverified(report)
	case kind != KindCoordinator:
		return nil, &wire.Error{
			Code:    CodeKind,
			Field:   "export_kind",
			Message: "This is not the artifact of an initiative.",
			Hint:    "git agentxchain restore FILE, in a clone of its project, restores the artifact of a run",
		}
	}
	return files, refused
}

func (a *artifact) kindOf() string {
	if a == nil {
		return ""
	}
	kind, _ := a.kind.(string)
	return kind
}

// held returns the repositories whose runs are in an artifact of an initiative.
func (a *artifact) held() []string {
	var out []string
	for _, e := range a.repos {
		if e.nested != nil && e.ok == any(true) {
			out = append(out, e.id)
		}
	}
	return out
}

// of returns the artifact of one repository in the artifact of an initiative, the artifact itself for "".
func (a *artifact) of(repo string) (*artifact, error) {
	if repo == "" {
		return a, nil
	}
	if kind := a.kindOf(); kind != KindCoordinator {
		return nil, &wire.Error{
			Code:    CodeKind,
			Field:   "export_kind",
			Message: "This is not the artifact of an initiative, so it holds no repository " + repo + ".",
			Hint:    "git agentxchain restore FILE, without --repo, restores the artifact of a run",
		}
	}
	for _, e := range a.repos {
		switch {
		case e.id != repo:
		case e.nested == nil || e.ok != any(true):
			why, _ := e.err.(string)
			return nil, &wire.Error{
				Code:    CodeUnsupported,
				Field:   "repos." + repo,
				Message: "Repository " + repo + " could not be exported with the initiative: " + text.OneLine(why),
				Hint:    "put that right where it was made, then export again",
			}
		default:
			return e.nested, nil
		}
	}
	return nil, &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "repo",
		Message: "The artifact holds no repository " + repo + "; it holds " + someOf(a.held(), 20) + ".",
		Hint:    "git agentxchain restore FILE --repo ID",
	}
}
