package whatif

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

// A secret in the evidence of an operation does not reach its case, which is still decided as the operation was;
// what cannot be replaced is refused.
func TestRedact(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	p, cfg := recordedAcceptance(t)
	c, err := RecordCase("plain", p)
	if err != nil {
		t.Fatal(err)
	}
	if same, n, err := c.Redact(); err != nil || n != 0 || same != c {
		t.Fatalf("a case without secrets became another one: %d, %v", n, err)
	}

	op := *p.Record.Op.(*protocol.AcceptTurn)
	i := bytes.Index(op.Staged.Data, []byte(`"summary": "`))
	if i < 0 {
		t.Fatalf("no summary in %s", op.Staged.Data)
	}
	i += len(`"summary": "`)
	op.Staged = evidence.NewBlob([]byte(string(op.Staged.Data[:i]) + token + " " + string(op.Staged.Data[i:])))
	rec := *p.Record
	rec.Op = &op
	if c, err = RecordCase("secret", &Past{Op: p.Op, Record: &rec, Before: p.Before}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(c.Encode()), token) {
		t.Fatal("the case before holds no secret to take out")
	}
	clean, n, err := c.Redact()
	if err != nil || n == 0 || strings.Contains(string(clean.Encode()), token) {
		t.Fatalf("%d texts, %v:\n%s", n, err, clean.Encode())
	}
	back, err := DecodeCase(clean.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if _, wrong, err := back.Run(cfg); err != nil || len(wrong) > 0 {
		t.Fatalf("the redacted case is decided otherwise: %v %v", wrong, err)
	}

	for _, digest := range c.Recorded.Evidence.Keys() {
		c.Recorded.Evidence.Set(digest, &Evidence{Base64: "Z2hwXzAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0hJSjAxMjM0NQ=="})
		break
	}
	if _, _, err := c.Redact(); err == nil {
		t.Error("evidence that is no text passed with a secret in it")
	}
}
