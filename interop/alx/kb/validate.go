// Judging blocks: shape, identity, lineage (docs/alx.md#knowledge-blocks).

package kb

import (
	"fmt"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Codes of findings.
const (
	FindingShape      = "shape"       // a member is missing or of the wrong kind
	FindingHash       = "hash"        // kbHash is not the hash of the content
	FindingLineage    = "lineage"     // a source is not a reference, or occurs twice
	FindingUnresolved = "unresolved"  // a source is not among the given blocks
	FindingLabel      = "label_clash" // two different blocks have one kbId
)

// Finding is one fault of a block.
type Finding struct {
	Code    string
	Field   string // member, "sources[2].sha256"; "" for the block
	Message string
}

func (f Finding) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Verdict is what can be said about one block.
type Verdict struct {
	Hash     string // the identity, derived
	Declared string // the block's kbHash, "" for none
	Label    string // its kbId
	Kind     string
	Lineage  []string // kbHash references of its sources, in order
	Findings []Finding
}

// Validate judges one block on its own. A block of kind governed-run has the shape of
// alx.KnowledgeBlock; of others only identity and lineage are known. The error says why there is
// nothing to judge (*alx.Error, invalid_json).
func Validate(block *ojson.Object) (*Verdict, error) {
	sum, err := Hash(block)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Hash: sum, Label: block.String("kbId"), Kind: block.String("kind")}
	v.identity(block)
	v.sources(block)
	if v.Kind == alx.BlockKindRun {
		v.run(block)
	}
	return v, nil
}

func (v *Verdict) findf(code, field, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{code, field, fmt.Sprintf(format, args...)})
}

func (v *Verdict) identity(block *ojson.Object) {
	for _, label := range []string{"kind", "kbId"} {
		if x, has := block.Get(label); has {
			if _, ok := x.(string); !ok {
				v.findf(FindingShape, label, "must be a string, not %s", ojson.TypeName(x))
			}
		}
	}
	x, has := block.Get("kbHash")
	if !has {
		return
	}
	declared, ok := x.(string)
	v.Declared = declared
	switch {
	case !ok:
		v.findf(FindingHash, "kbHash", "must be a string, not %s", ojson.TypeName(x))
	case !isDigest(declared):
		v.findf(FindingHash, "kbHash", "must be 64 lower-case hex digits, not %s", ojson.Shown(declared))
	case declared != v.Hash:
		v.findf(FindingHash, "kbHash", "is %s, but the content hashes to %s", declared, v.Hash)
	}
}

// sources judges the lineage references: text that is a kbHash, or an object with kbHash, or with
// turnId and sha256.
func (v *Verdict) sources(block *ojson.Object) {
	x, has := block.Get("sources")
	if !has {
		return
	}
	list, ok := x.([]any)
	if !ok {
		v.findf(FindingLineage, "sources", "must be an array, not %s", ojson.TypeName(x))
		return
	}
	seen := map[string]int{}
	for i, x := range list {
		field := fmt.Sprintf("sources[%d]", i)
		id := v.source(field, x)
		if id == "" {
			continue
		}
		if first, twice := seen[id]; twice {
			v.findf(FindingLineage, field, "is sources[%d] again", first)
		} else {
			seen[id] = i
		}
	}
}

// source judges one reference and returns its target.
func (v *Verdict) source(field string, x ojson.Value) string {
	hash, isText := x.(string)
	o, isObject := x.(*ojson.Object)
	switch {
	case !isText && !isObject:
		v.findf(FindingLineage, field, "must be a kbHash or an object, not %s", ojson.TypeName(x))
		return ""
	case isObject && o.Has("kbHash"):
		field += ".kbHash"
		hash = o.String("kbHash")
	case isObject:
		turn, sum := o.String("turnId"), o.String("sha256")
		switch {
		case turn == "" && sum == "":
			v.findf(FindingLineage, field, "refers to nothing: it has neither kbHash nor turnId and sha256")
		case turn == "":
			v.findf(FindingLineage, field+".turnId", "must be the id of an accepted turn")
		case !isDigest(sum):
			v.findf(FindingLineage, field+".sha256", "must be 64 lower-case hex digits")
		}
		return turn
	}
	switch {
	case !isDigest(hash):
		v.findf(FindingLineage, field, "must be 64 lower-case hex digits")
		return ""
	case hash == v.Declared || hash == v.Hash:
		v.findf(FindingLineage, field, "refers to the block itself")
	default:
		v.Lineage = append(v.Lineage, hash)
	}
	return hash
}

// run judges the shape of a block that came from a governed run.
func (v *Verdict) run(block *ojson.Object) {
	// Labels and lineage have been judged; they are removed so that they are not reported twice.
	rest := block.Clone()
	for _, k := range []string{"kind", "kbId", "kbHash", "sources"} {
		rest.Delete(k)
	}
	b := &alx.KnowledgeBlock{}
	for _, k := range ojson.Marshal(b).Keys() {
		if !block.Has(k) {
			v.findf(FindingShape, k, "is missing")
		}
	}
	for _, wrong := range ojson.Unmarshal(rest, b) {
		v.findf(FindingShape, wrong.Path, "must be %s, not %s", wrong.Want, wrong.Got)
	}
	decided := map[string]bool{}
	for i, d := range b.Decisions {
		field := fmt.Sprintf("decisions[%d].id", i)
		switch {
		case d.ID == "":
			v.findf(FindingShape, field, "is missing")
		case decided[d.ID]:
			v.findf(FindingShape, field, "%s is there twice", ojson.Shown(d.ID))
		}
		decided[d.ID] = true
	}
	paths := map[string]bool{}
	for i, a := range b.Artifacts {
		field := fmt.Sprintf("artifacts[%d].", i)
		switch {
		case !inside(a.Path):
			v.findf(FindingShape, field+"path", "must be a clean path inside the repository, not %s",
				ojson.Shown(a.Path))
		case paths[a.Path]:
			v.findf(FindingShape, field+"path", "%s is there twice", ojson.Shown(a.Path))
		}
		paths[a.Path] = true
		if !isDigest(a.SHA256) {
			v.findf(FindingShape, field+"sha256", "must be 64 lower-case hex digits")
		}
	}
	if n := b.Verification; n.Turns < 0 || n.Verified < 0 || n.Verified > n.Turns {
		v.findf(FindingShape, "verification", "counts %d verified of %d turns", n.Verified, n.Turns)
	}
}

// inside reports whether p is a clean relative path with slashes that stays within its base.
func inside(p string) bool {
	return p != "" && path.Clean(p) == p && !path.IsAbs(p) && p != "." && p != ".." &&
		!strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "\\\x00")
}

// Relate judges blocks that were given together: every kbHash in the sources of one must be the
// identity of another, and two blocks must not share a label. It adds findings to the verdicts. It
// does not judge a single block: its sources may be elsewhere.
func Relate(all []*Verdict) {
	if len(all) < 2 {
		return
	}
	known := map[string]bool{}
	labels := map[string]string{}
	for _, v := range all {
		known[v.Hash] = true
	}
	for _, v := range all {
		for _, ref := range v.Lineage {
			if !known[ref] {
				v.findf(FindingUnresolved, "sources", "no block given here is %s", ref)
			}
		}
		if v.Label == "" {
			continue
		}
		if other, taken := labels[v.Label]; taken && other != v.Hash {
			v.findf(FindingLabel, "kbId", "%s is also the label of %s", ojson.Shown(v.Label), other)
		} else {
			labels[v.Label] = v.Hash
		}
	}
}
