// What is recorded of the output of lifecycle hooks.

package ophooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// A row is cut down to what is recorded, and keeps its subject.
func TestBounded(t *testing.T) {
	long := strings.Repeat("é", protocol.MaxAuditRowBytes)
	many := []*ojson.Object{}
	for range 16 {
		many = append(many, ojson.NewObject("key", "k", "value", strings.Repeat("\u0001", 1000)))
	}
	for name, e := range map[string]hooks.Entry{
		"small":            {HookName: "h", Message: "fine"},
		"a long message":   {HookName: "h", Message: long},
		"no text at all":   {HookName: "h", Message: ojson.NewObject("m", long)},
		"many annotations": {HookName: "h", Message: "fine", Annotations: many},
		"everything":       {HookName: "h", Message: long, Annotations: many, Stderr: strings.Repeat("\u0001", 4096)},
	} {
		row := e.Row()
		cut := bounded(row)
		if !(protocol.AuditRow{Row: cut}).Fits() {
			t.Errorf("%s: %d bytes are left", name, len(ojson.Compact(cut)))
		}
		if cut.String("hook_name") != "h" || !slices.Equal(cut.Keys(), row.Keys()) {
			t.Errorf("%s: members %v", name, cut.Keys())
		}
		if (protocol.AuditRow{Row: row}).Fits() && cut != row {
			t.Errorf("%s: cut without need", name)
		}
	}
}
