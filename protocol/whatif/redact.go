// A case is committed with the project, so what it repeats of the record must not contain secrets.

package whatif

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

// Redact returns the case with its secrets replaced by the names of the rules that matched, and how many texts had
// any; the case itself when none did. Evidence is then named by the digest of its new bytes.
//
// An error says that redaction is impossible: the decision depends on a secret, or a secret is where nothing can be
// replaced.
func (c *Case) Redact() (clean *Case, texts int, err error) {
	doc := ojson.Marshal(c)
	renamed := map[string]*evidence.Blob{} // by the old digest
	if c.Recorded != nil {
		for digest, e := range c.Recorded.Evidence.All() {
			if e.Text == nil {
				if data, err := base64.StdEncoding.DecodeString(e.Base64); err == nil && len(secrets.Find(data)) > 0 {
					return nil, 0, fmt.Errorf("evidence %s is not text and holds a secret", digest)
				}
				continue
			}
			if s := secrets.Redact(*e.Text); s != *e.Text {
				renamed[digest] = evidence.NewBlob([]byte(s))
			}
		}
	}
	doc, _ = redacted(doc, renamed, &texts).(*ojson.Object)
	if texts == 0 {
		clean = c
	} else {
		if evidence := doc.Object("recorded").Object("evidence"); evidence != nil {
			for digest, b := range renamed {
				evidence.Delete(digest)
				evidence.Set(b.Digest, ojson.Marshal(&Evidence{Text: new(string(b.Data))}))
			}
			keys := slices.Sorted(slices.Values(evidence.Keys()))
			sorted := ojson.NewObject()
			for _, k := range keys {
				sorted.Set(k, evidence.Value(k))
			}
			doc.Object("recorded").Set("evidence", sorted)
		}
		if clean, err = DecodeCase(ojson.Pretty(doc)); err != nil {
			return nil, 0, err
		}
		if err := clean.decidesAs(c); err != nil {
			return nil, 0, err
		}
	}
	if left := secrets.Find(clean.Encode()); len(left) > 0 {
		return nil, 0, fmt.Errorf("line %d of the case holds a secret (%s)", left[0].Line, left[0].Rule)
	}
	return clean, texts, nil
}

// decidesAs checks that a redacted case meets the recorded one's expectation.
func (c *Case) decidesAs(recorded *Case) error {
	p, err := c.Recorded.past()
	if err != nil {
		return fmt.Errorf("without its secrets the operation cannot be applied again: %w", err)
	}
	if wrong := recorded.Expect.check(p.Explain().Chain); len(wrong) > 0 {
		return fmt.Errorf("what was decided depends on a secret: %s", wrong[0])
	}
	return nil
}

// redacted returns a value with the secrets in its texts replaced and its blobs renamed; texts counts the texts
// that had any.
func redacted(v ojson.Value, renamed map[string]*evidence.Blob, texts *int) ojson.Value {
	switch v := v.(type) {
	case string:
		s := secrets.Redact(v)
		if s != v {
			*texts++
		}
		return s
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = redacted(v[i], renamed, texts)
		}
		return out
	case *ojson.Object:
		out := ojson.NewObject()
		for k, e := range v.All() {
			out.Set(k, redacted(e, renamed, texts))
		}
		if b := renamed[out.String("sha256")]; b != nil {
			out.Set("sha256", b.Digest)
			out.Set("size", b.Size)
		}
		return out
	}
	return v
}
