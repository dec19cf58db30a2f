package dispatch

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// TestSecretsInPreviews quotes a file and a log that contain a key.
func TestSecretsInPreviews(t *testing.T) {
	key := "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
	in := newInput(wire.ReviewOnly, "manual")
	withFiles(&in, map[string]string{"f": "first\nkey " + key + "\n"})
	v, _ := newView(in)
	s, ok := v.sample("f")
	for name, out := range map[string]string{
		"preview": s.preview(changedLines),
		"log":     logExcerpt([]byte("used " + key + "\n")),
	} {
		if !ok || strings.Contains(out, key) || !strings.Contains(out, "[REDACTED github-token]") {
			t.Errorf("%s: %q", name, out)
		}
	}
}
