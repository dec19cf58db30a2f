// Checking a project's cases against the engine, and making cases from its history.

package lookback

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/yamljson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// PolicyTestsDir holds the cases of a project, one JSON or YAML document each.
const PolicyTestsDir = ".agentxchain/policy-tests"

// maxCases bounds the cases of a project.
const maxCases = 10000

// CaseResult is the result of a case.
type CaseResult struct {
	File     string
	Name     string
	Problems []string       // differences from what was expected
	Err      string         // why it could not be decided, "" when it was
	Chain    *verdict.Chain // nil when it was not
}

// Passed reports that everything was as expected.
func (c *CaseResult) Passed() bool { return c.Err == "" && len(c.Problems) == 0 }

// PolicyTests runs cases under a configuration: those in the files, project-relative, or all below
// PolicyTestsDir. It returns none for a project without cases.
func PolicyTests(ctx context.Context, r *runner.Runner, cfg *config.Config, files []string) ([]*CaseResult, error) {
	root, err := os.OpenRoot(r.Record().Dir())
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", r.Record().Dir())
	}
	defer func() { _ = root.Close() }()
	if files == nil {
		list, err := fs.ReadDir(root.FS(), PolicyTestsDir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", PolicyTestsDir)
		}
		for _, e := range list {
			if (path.Ext(e.Name()) == ".json" || yamlName(e.Name())) && !e.IsDir() {
				files = append(files, path.Join(PolicyTestsDir, e.Name()))
			}
		}
	}
	if len(files) > maxCases {
		return nil, fail.Errorf(wire.CodeInvalidArgument, nil, "%d cases are too many for one test; the limit is %d",
			len(files),
			maxCases)
	}
	var out []*CaseResult
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, runCase(root.Name(), cfg, name))
	}
	return out, nil
}

// yamlName reports whether a file of that name is YAML; other cases are JSON.
func yamlName(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

func runCase(dir string, cfg *config.Config, name string) *CaseResult {
	out := &CaseResult{File: name, Name: strings.TrimSuffix(path.Base(name), path.Ext(name))}
	data, err := projectfile.Read(dir, name, whatif.MaxCaseBytes)
	if err == nil && data == nil {
		err = errors.New("there is no such file")
	}
	if err != nil {
		out.Err = err.Error()
		return out
	}
	if yamlName(name) {
		data, err = yamljson.Convert(data)
	}
	var c *whatif.Case
	if err == nil {
		c, err = whatif.DecodeCase(data)
	}
	if err != nil {
		out.Err = err.Error()
		return out
	}
	if c.Name != "" {
		out.Name = c.Name
	}
	if out.Chain, out.Problems, err = c.Run(cfg); err != nil {
		out.Err = err.Error()
	}
	return out
}

// RecordCase writes a case below PolicyTestsDir from the newest operation that decided on the turn, or from the
// operation that turn names, and returns its path, what it expects and how many of its texts held secrets, which it
// replaces. An existing file is kept (file_exists).
//
// Errors: not_found when no recorded operation decided on the turn; secret_found when a
// secret cannot be replaced.
func RecordCase(
	ctx context.Context,
	r *runner.Runner,
	run,
	turn,
	name string,
) (file string, c *whatif.Case, texts int, err error) {
	ops, err := r.Record().Chain(ctx, run, "")
	if err != nil {
		return "", nil, 0, err
	}
	at := -1
	for i, op := range slices.Backward(ops) {
		if op.Turn == turn && (op.Name == protocol.OpAccept || op.Name == "reject_turn") || called(&op, turn) {
			at = i
			break
		}
	}
	if at < 0 {
		return "", nil, 0, fail.Errorf(wire.CodeNotFound, nil,
			"%s is neither a recorded operation nor a turn that one decided on", turn).WithHint("git agentxchain log")
	}
	if name == "" {
		name = turn
	}
	op, err := chain.OneOp(ctx, r.Record().Repository(), ops, at)
	if err != nil {
		return "", nil, 0, err
	}
	if c, err = whatif.RecordCase(name, past(op)); err != nil {
		return "", nil, 0, fail.Errorf(wire.CodeNotFound, err, "operation %s cannot become a case", op.Op.Short())
	}
	if c, texts, err = c.Redact(); err != nil {
		return "", nil, 0, fail.Errorf("secret_found", err,
			"operation %s cannot become a case: it holds what looks like a secret", ops[at].Op.Short()).
			WithHint("write the case by hand (docs/whatif.md#cases)")
	}
	file = path.Join(PolicyTestsDir, name+".json")
	root, err := os.OpenRoot(r.Record().Dir())
	if err == nil {
		defer func() { _ = root.Close() }()
		err = root.MkdirAll(PolicyTestsDir, 0o777)
	}
	if err == nil {
		if _, serr := root.Lstat(file); serr == nil {
			return "", nil, 0, fail.Errorf("file_exists", nil,
				"%s is there already", file).WithHint("remove it, or give the case another name with --name")
		}
		err = durable.WriteFileRoot(root, file, c.Encode(), 0o666)
	}
	if err != nil {
		return "", nil, 0, fail.Errorf(fail.CodeUnreadable, err, "%s cannot be written", file)
	}
	return file, c, texts, nil
}
