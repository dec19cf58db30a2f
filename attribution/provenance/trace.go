// Agent Trace records: which lines of a commit agents wrote.

package provenance

import (
	"crypto/sha256"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// TraceVersion is the version of the Agent Trace specification.
const TraceVersion = "0.1.0"

// Tracer makes Agent Trace records.
type Tracer struct {
	Program Program

	configs map[*chain.RunRecord]*config.Config
}

// Record returns the Agent Trace record of a commit. Its id derives from the commit and the turns, so that the same
// work gives the same record.
func (x *Tracer) Record(t *attribution.Trace) (*ojson.Object, error) {
	sum := sha256.New()
	sum.Write([]byte(t.Commit))
	files, turns := []*ojson.Object{}, &ojson.Object{}
	at := ""
	for _, f := range t.Files {
		who, err := x.contributor(f.Turns)
		if err != nil {
			return nil, err
		}
		ranges := ojson.List(f.Lines, func(s attribution.Span) *ojson.Object {
			return ojson.NewObject("start_line", s.First, "end_line", s.Last)
		})
		files = append(files, ojson.NewObject("path", f.Path, "conversations", []*ojson.Object{
			ojson.NewObject("contributor", who, "ranges", ranges),
		}))
		for _, turn := range f.Turns {
			if turns.Has(turn.ID) {
				continue
			}
			sum.Write([]byte(turn.ID))
			accepted := turn.Row.String("accepted_at")
			turns.Set(turn.ID, ojson.NewObject("run_id", turn.Run, "role", turn.Role, "phase", turn.Phase,
				"runtime_id", turn.Runtime, "accepted_at", accepted))
			at = max(at, accepted)
		}
	}
	id := sum.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 of RFC 9562, for such ids
	return ojson.NewObject(
		"version", TraceVersion,
		"id", fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		"timestamp", at,
		"vcs", ojson.NewObject("type", "git", "revision", string(t.Commit)),
		"tool", ojson.NewObject("name", "git-agentxchain", "version", x.Program.Version),
		"files", files,
		"metadata", ojson.NewObject("git-agentxchain", ojson.NewObject("turns", turns)),
	), nil
}

// contributor returns who wrote what turns did. The person at a manual turn is not recorded.
func (x *Tracer) contributor(turns []*attribution.Turn) (*ojson.Object, error) {
	kind, model := "", ""
	for i, t := range turns {
		c, ok := x.configs[t.Record]
		if !ok {
			data, _, err := t.Record.Config()
			if err != nil {
				return nil, err
			}
			c = config.DecodeGoverning(data)
			if x.configs == nil {
				x.configs = make(map[*chain.RunRecord]*config.Config)
			}
			x.configs[t.Record] = c
		}
		k, m := "unknown", ""
		if c != nil {
			if r, _ := c.Runtimes.Get(t.Runtime); r != nil && r.Type != "manual" {
				k = "ai"
				if provider, name := r.Raw.String("provider"), r.Raw.String("model"); provider != "" && name != "" {
					m = provider + "/" + name
				}
			}
		}
		if i > 0 && k != kind {
			k = "mixed"
		}
		if i > 0 && m != model {
			m = ""
		}
		kind, model = k, m
	}
	out := ojson.NewObject("type", kind)
	if model != "" && len(model) <= 250 {
		out.Set("model_id", model)
	}
	return out, nil
}
