// The rules that hold for a kind of member anywhere, and the calls of each type's rules.

package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// visit walks a document along its schema: at each described member it applies the rules that a
// schema cannot express, and where a type of its own begins, the rules of that type. It skips parts
// with the wrong shape; explain has reported them.
func (j *judge) visit(places []place, v ojson.Value, name, at string) {
	if j.full() {
		return
	}
	flat := j.st.allFlat(places)
	switch v := v.(type) {
	case *ojson.Object:
		for _, p := range flat {
			if t := p.typ(j.st); t != "" && p.Ref == "" {
				j.rules(t, v, at)
			}
		}
		for k, e := range v.All() {
			if below := member(flat, k); len(below) > 0 {
				j.visit(below, e, k, ojson.Member(at, k))
			}
		}
	case []any:
		below := items(flat)
		for i, e := range v {
			if s, ok := e.(string); ok && isDigestList(name) && blank(s) {
				j.fail(ojson.Item(at, i), "hash.blank", "a digest must not be blank")
			}
			if len(below) > 0 {
				j.visit(below, e, "", ojson.Item(at, i))
			}
		}
	case string:
		j.visitString(flat, v, name, at)
	case ojson.Number:
		j.visitNumber(flat, v, at)
	}
}

func (j *judge) visitString(flat []place, s, name, at string) {
	strict, format, filled := false, false, false
	for _, p := range flat {
		strict = strict || Type(p.file).Strict()
		format = format || p.Format == "date-time"
		filled = filled || p.MinLength != nil && *p.MinLength > 0
	}
	if format && !isDateTime(s) {
		j.fail(at, "format", fmt.Sprintf("%s is not an RFC 3339 time", ojson.Shown(s)))
	}
	switch {
	case isID(name):
		j.safe(s, at)
	case !blank(s) || j.told(at):
	case isDigest(name):
		j.fail(at, "hash.blank", "a digest must not be blank")
	case filled:
		j.fail(at, "text.blank", "must hold more than white space")
	}
	if strict && name == "contract_version" && s != "v1" && !blank(s) &&
		!strings.HasSuffix(flat[0].file, "/control_plane_queue_job.json") {
		j.fail(at, "unsupported_version", fmt.Sprintf("version %s is not supported; \"v1\" is", ojson.Shown(s)))
	}
}

// visitNumber refuses in the strict family what the schema cannot distinguish from an integer: 1.0
// and 1e3 (docs/monarchic.md).
func (j *judge) visitNumber(flat []place, n ojson.Number, at string) {
	for _, p := range flat {
		if Type(p.file).Strict() && slices.Contains(p.jsonTypes(), "integer") &&
			strings.ContainsAny(string(n), ".eE") && !j.told(at) {
			j.fail(at, "integer.spelling", fmt.Sprintf("%s must be written as an integer", ojson.Shown(n)))
			return
		}
	}
}

// blank reports whether s is empty or only Unicode white space.
func blank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

// isID reports whether a member holds an id that must be safe (docs/monarchic.md).
func isID(name string) bool {
	switch name {
	case "task_id", "step_id", "plan_id", "run_id", "lease_id", "event_id", "verification_id", "receipt_id",
		"from_task_id", "to_task_id":
		return true
	}
	return false
}

// safe reports an unsafe id (docs/monarchic.md).
func (j *judge) safe(id, at string) {
	if !wire.SafeID(id) && !j.told(at) {
		j.fail(at, "id.unsafe", "this "+wire.UnsafeText(id))
	}
}

func isDigest(name string) bool {
	return name == "digest" || strings.HasSuffix(name, "_digest") || strings.HasSuffix(name, "_hash")
}

func isDigestList(name string) bool {
	return strings.HasSuffix(name, "_hashes") || name == "artifact_digest_set"
}
