// The coordinator's context of a turn: it goes into the bundle of the dispatch, and into every later bundle of the
// same work (docs/siblings.md).

package turnfiles

import (
	"os"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// maxCrossRepo bounds the document that is rendered, in bytes.
const maxCrossRepo = 4 << 20

// CrossFiles returns the coordinator's files for the bundle of a turn: those of
// this dispatch, given, else those of an earlier bundle of the turn or of the turn it
// was reissued from.
func CrossFiles(dir string, given map[string][]byte, turn *run.Turn) (map[string][]byte, error) {
	if given != nil {
		return given, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	for _, id := range []string{turn.TurnID, turn.ReissuedFrom} {
		bundle := dispatch.BundleDir(id)
		if id == "" || bundle == "" {
			continue
		}
		out := make(map[string][]byte)
		for _, name := range []string{dispatch.CoordinatorJSON, dispatch.CoordinatorText} {
			info, err := root.Lstat(bundle + "/" + name)
			if err != nil || !info.Mode().IsRegular() {
				continue // the bundle's own check reports anything odd there
			}
			data, err := projectfile.Read(dir, bundle+"/"+name, maxCrossRepo)
			if err != nil {
				return nil, err
			}
			out[name] = data
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// CrossDocument reads the document of files, nil when there is none.
func CrossDocument(files map[string][]byte) *ojson.Object {
	data, ok := files[dispatch.CoordinatorJSON]
	if !ok {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	return o
}
