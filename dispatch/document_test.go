// No bullet of the documents is empty.

package dispatch

import (
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

var emptyBullet = regexp.MustCompile(`^\s*- *$|^\s*- .*(:\*\*| —|[^*]:) *$|\*\* *$`)

// emptyBullets returns the bullets of a document without content; a label has content when bullets are nested below
// it.
func emptyBullets(doc string) (found []string) {
	lines := strings.Split(doc, "\n")
	for i, l := range lines {
		nested := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  - ")
		if strings.HasPrefix(strings.TrimLeft(l, " "), "-") && emptyBullet.MatchString(l) && !nested {
			found = append(found, l)
		}
	}
	return found
}

// Members that other tools left empty make no empty bullets.
func TestNoBulletIsEmpty(t *testing.T) {
	objects := map[string]func(*Input) *ojson.Object{
		"last row":         func(in *Input) *ojson.Object { return in.LastRow },
		"decision":         func(in *Input) *ojson.Object { return in.Decisions[0] },
		"objection":        func(in *Input) *ojson.Object { return in.OpenObjections[0] },
		"repo decision":    func(in *Input) *ojson.Object { return in.RepoDecisions[0] },
		"inherited":        func(in *Input) *ojson.Object { return in.State.InheritedContext },
		"escalation":       func(in *Input) *ojson.Object { return in.State.Escalation },
		"intent":           func(in *Input) *ojson.Object { return in.Turn.IntakeContext },
		"delegation":       func(in *Input) *ojson.Object { return in.Turn.DelegationContext },
		"review":           func(in *Input) *ojson.Object { return in.Turn.DelegationReview },
		"rejection":        func(in *Input) *ojson.Object { return in.Turn.LastRejection },
		"conflict":         func(in *Input) *ojson.Object { return in.Turn.ConflictContext },
		"state, last turn": func(in *Input) *ojson.Object { in.State.Phase = ""; return &ojson.Object{} },
	}
	tried := 0
	for name, pick := range objects {
		full := fullInput(t, wire.ReviewOnly, "manual")
		var paths []string
		var walk func(at string, v any)
		walk = func(at string, v any) {
			switch v := v.(type) {
			case *ojson.Object:
				for k, c := range v.All() {
					walk(at+"/"+k, c)
				}
			case []any:
				paths = append(paths, at)
				for _, c := range v {
					walk(at+"/0", c)
				}
			case string:
				paths = append(paths, at)
			}
		}
		walk("", pick(&full))
		for _, path := range append(paths, "") {
			for _, empty := range []string{"", " \t"} {
				in := fullInput(t, wire.ReviewOnly, "manual")
				blank(pick(&in), strings.Split(path, "/")[1:], empty)
				b, err := Build(in)
				if err != nil {
					continue
				}
				tried++
				for _, file := range []string{ContextFile, PromptFile} {
					if l := emptyBullets(string(b.Files[file])); l != nil {
						t.Errorf("%s of an input whose %s%s is %q has %q", file, name, path, empty, l)
					}
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d inputs were tried", tried)
	}
}

// blank empties the text or the list at a path of members; 0 is the first item of a list.
func blank(o *ojson.Object, path []string, empty string) {
	if len(path) == 0 {
		return
	}
	v, _ := o.Get(path[0])
	switch v := v.(type) {
	case *ojson.Object:
		blank(v, path[1:], empty)
	case []any:
		switch item, _ := first(v).(*ojson.Object); {
		case item != nil && len(path) > 2:
			blank(item, path[2:], empty)
		default:
			o.Set(path[0], []any{empty})
		}
	case string:
		o.Set(path[0], empty)
	}
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
