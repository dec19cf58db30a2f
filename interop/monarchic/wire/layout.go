// The members of a struct, read once from its tags.

package wire

import (
	"reflect"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// A member's name is its json tag; its options are in the tag wire:
//
//	(none)     required; always written
//	omit       optional, null is absent; not written when absent
//	null       optional, null is absent; written as null when absent
//	default    absent means the zero value (or default=TOKEN); always written
//	empty      absent means empty; not written when empty
//	bare       a bare string in place of the object is this member of it
//	alias=NAME a second name it is read under
type member struct {
	index  int
	name   string
	mode   string // "", omit, null, default or empty
	preset string // token of default=TOKEN
}

type layout struct {
	members []member
	byName  map[string]int
	alias   map[string]string // other spelling -> name; open objects only
	open    bool
	bare    int // member that a bare string means, or -1
}

var (
	layouts    sync.Map // reflect.Type -> *layout
	anyType    = reflect.TypeFor[any]()
	objectType = reflect.TypeFor[*ojson.Object]()
	openType   = reflect.TypeFor[Open]()
)

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{byName: make(map[string]int), alias: make(map[string]string), bare: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == openType {
			l.open = true
			continue
		}
		tag, ok := f.Tag.Lookup("json")
		if !ok {
			continue
		}
		m := member{index: i, name: tag}
		for opt := range strings.SplitSeq(f.Tag.Get("wire"), ",") {
			key, value, _ := strings.Cut(opt, "=")
			switch key {
			case "":
			case "bare":
				l.bare = len(l.members)
			case "alias":
				l.alias[value] = m.name
				l.alias[LowerCamel(value)] = m.name
			default:
				m.mode, m.preset = key, value
			}
		}
		if camel := LowerCamel(m.name); camel != m.name {
			l.alias[camel] = m.name
		}
		l.byName[m.name] = len(l.members)
		l.members = append(l.members, m)
	}
	layouts.Store(t, l)
	return l
}

// LowerCamel returns the second spelling of a member: task_id is also taskId.
func LowerCamel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	up := false
	for _, r := range name {
		switch {
		case r == '_':
			up = true
			continue
		case up && r >= 'a' && r <= 'z':
			r += 'A' - 'a'
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}
