// kbHash: the identity of a Knowledge Block (docs/alx.md#identity).

package kb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Limits of a block.
const (
	MaxBytes = 64 << 20
	MaxDepth = ojson.DefaultDepth
)

// unhashed returns the names of the top-level members that are not content: the identity itself,
// the implementation's label, and transport metadata. The latter is the envelope (ok,
// correlationId, protocol) of an answer that holds the block at its top level, and transport or
// _transport, in which a transport can note anything. There are no more, because every name that is
// left out is one that content cannot have.
func unhashed() []string {
	return []string{"kbHash", "kbId", "ok", "correlationId", "protocol", "transport", "_transport"}
}

// Parse reads a block. Errors: *alx.Error with code invalid_json.
func Parse(data []byte) (*ojson.Object, error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxBytes, Depth: MaxDepth})
	if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
		return nil, alx.Errorf(alx.CodeInvalidJSON, "not JSON that can be read: %s", syntax.Error()).
			With("line", syntax.Line).With("offset", syntax.Offset)
	}
	if err != nil {
		return nil, alx.Errorf(alx.CodeInvalidJSON, "not JSON that can be read: %s", err)
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, alx.Errorf(alx.CodeInvalidJSON, "a Knowledge Block is a JSON object, not %s", ojson.TypeName(v))
	}
	return o, nil
}

// Hash returns the identity of a block.
func Hash(block *ojson.Object) (string, error) {
	text, err := Content(block)
	if err != nil {
		return "", err
	}
	return hexSum(text), nil
}

// Content returns what a block's identity is the digest of: the RFC 8785 form of its canonical
// content.
func Content(block *ojson.Object) ([]byte, error) {
	if slices.ContainsFunc(unhashed(), block.Has) {
		content := &ojson.Object{}
		for k, v := range block.All() {
			if !slices.Contains(unhashed(), k) {
				content.Set(k, v)
			}
		}
		block = content
	}
	return canonical(block)
}

// canonical returns the RFC 8785 form of any value. Errors: *alx.Error with
// code invalid_json, when the value has none.
func canonical(v ojson.Value) ([]byte, error) {
	text, err := jcs.Transform(ojson.Compact(v))
	if err != nil {
		return nil, alx.Errorf(alx.CodeInvalidJSON, "the document has no canonical form (RFC 8785): %s", err)
	}
	return text, nil
}

// Digest returns the lower-case hex SHA-256 of the RFC 8785 form of any value: what a block's
// sources have for a history entry.
func Digest(v ojson.Value) (string, error) {
	text, err := canonical(v)
	if err != nil {
		return "", err
	}
	return hexSum(text), nil
}

// Seal gives a block its identity, replacing an existing one.
func Seal(b *alx.KnowledgeBlock) error {
	b.KBHash = ""
	sum, err := Hash(ojson.Marshal(b))
	if err == nil {
		b.KBHash = sum
	}
	return err
}

func hexSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// isDigest reports whether s is a lower-case hex SHA-256.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
