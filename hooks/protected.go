// Which files no hook may change (docs/hooks.md#protected-files).

package hooks

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// protected lists the single files guarded in a call, in the order of comparison: the three of the protocol, the
// caller's, then this implementation's additions: every other governed ledger and document, the configuration, and
// the staged result once it has been validated.
func (r *Runner) protected(call Call) []string {
	paths := []string{string(wire.DocState), wire.LedgerHistory.Path(), wire.LedgerDecisions.Path()}
	paths = append(paths, call.Protected...)
	for _, l := range wire.Ledgers() {
		paths = append(paths, l.Path())
	}
	for _, d := range wire.Documents() {
		paths = append(paths, string(d))
	}
	paths = append(paths, wire.ConfigPath)
	if call.Phase == "after_validation" || call.Phase == "before_acceptance" {
		// The validated result must be the one that is accepted.
		if call.TurnID != "" {
			paths = append(paths, wire.StagingPath(call.TurnID))
		}
		paths = append(paths, wire.FlatStagingPath)
	}
	paths = append(paths, r.Guarded...)
	paths = append(paths, r.Kept...)
	var out []string
	for _, p := range paths {
		if clean, problem := wire.CleanPath(p); problem == "" && !slices.Contains(out, clean) {
			out = append(out, clean)
		}
	}
	return out
}

// bundleFiles lists the guarded files of dispatch bundles, sorted. A bundle is closed in every phase except
// after_dispatch, when hooks may add to the bundle of their own turn. It skips what runtimes write into a bundle
// while an agent works: that belongs to no hook and to no seal.
func bundleFiles(root *os.Root, call Call) ([]string, error) {
	open := ""
	if call.Phase == "after_dispatch" && call.TurnID != "" {
		open = wire.BundleDir(call.TurnID)
	}
	var out []string
	err := fs.WalkDir(root.FS(), wire.DispatchDir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == wire.DispatchDir:
			return fs.SkipAll // none, or not a directory: its kind is compared
		case err != nil:
			return err
		case d.IsDir() && p == open:
			return fs.SkipDir
		case d.IsDir(), isRuntimeFile(p):
			return nil
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// isRuntimeFile reports whether p is .agentxchain/dispatch/turns/<turn>/<name> with a name that is written after
// sealing.
func isRuntimeFile(p string) bool {
	return path.Dir(path.Dir(p)) == wire.DispatchDir && slices.Contains(dispatch.AuditFiles(), path.Base(p))
}

// tamperCode returns the code for a changed file (docs/hooks.md#protected-files).
func tamperCode(p string) string {
	switch {
	case strings.HasSuffix(p, "state.json"):
		return CodeStateTamper
	case strings.HasSuffix(p, "history.jsonl"):
		return CodeHistoryTamper
	case strings.HasSuffix(p, "decision-ledger.jsonl"):
		return CodeLedgerTamper
	}
	return CodeBundleTamper
}
