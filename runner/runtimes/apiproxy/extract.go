// The turn result in a model's answer (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// extract finds the turn result: the whole text, else the first fenced block, else what lies
// between the first { and the last }. If there is none, why says so as the end of a sentence.
func extract(text string) (result []byte, why string) {
	if strings.TrimSpace(text) == "" {
		return nil, "with no text"
	}
	if len(text) > protocol.MaxStagedBytes {
		return nil, "with more text than a turn result may have"
	}
	why = "there is no turn result in JSON in it"
	for _, part := range candidates(text) {
		v, err := ojson.DecodeLimited([]byte(part), ojson.Limits{Bytes: protocol.MaxStagedBytes})
		if err != nil {
			continue
		}
		o, ok := v.(*ojson.Object)
		if !ok || !ojson.Truthy(o.Value("schema_version")) {
			continue
		}
		if !runtimes.HasEnvelope(o) {
			why = "its JSON lacks what every turn result has: schema_version, run_id or turn_id, and status, role or runtime_id"
			continue
		}
		return []byte(strings.TrimSpace(part)), ""
	}
	return nil, why
}

func candidates(text string) []string {
	out := []string{text}
	if _, rest, ok := strings.Cut(text, "```"); ok {
		// The rest of the fence's line is the language.
		if _, body, ok := strings.Cut(rest, "\n"); ok {
			if before, _, ok := strings.Cut(body, "```"); ok {
				out = append(out, before)
			}
			// Strings of the result may contain fences themselves.
			if end := strings.LastIndex(body, "\n```"); end >= 0 {
				out = append(out, body[:end])
			}
		}
	}
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from {
		out = append(out, text[from:to+1])
	}
	return out
}
