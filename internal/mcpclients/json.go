// Adding a server to a JSON file that the person wrote.

package mcpclients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/personfile"
)

// registerJSON inserts entry as the first member of the object member of data. The existing bytes stay: it only
// adds those of the entry, and of a missing object.
func registerJSON(data []byte, member, entry string) ([]byte, error) {
	body := bytes.TrimPrefix(data, []byte("\ufeff"))
	mark := data[:len(data)-len(body)]
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}\n")
	}
	object, err := servers(body, member)
	if err != nil {
		return nil, err
	}
	depth, key := 1, member
	if object != nil {
		if there, taken := object.Get(Server); taken {
			if !starts(there) {
				return nil, fmt.Errorf("its member %s.%s is another server", member, Server)
			}
			return data, nil
		}
		depth, key = 2, Server
	} else {
		entry = `{"` + Server + `": ` + entry + `}`
	}
	at, err := inside(body, member, depth)
	if err != nil {
		return nil, err
	}
	unit, eol := indent(body), personfile.LineEnd(body)
	lead := eol + strings.Repeat(unit, depth)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(entry), "", unit); err != nil {
		return nil, err
	}
	text := lead + `"` + key + `": ` + strings.ReplaceAll(pretty.String(), "\n", lead)
	rest := bytes.TrimLeft(body[at:], " \t\r\n")
	switch {
	case rest[0] == '}':
		text += eol + strings.Repeat(unit, depth-1)
	case bytes.ContainsRune(body[at:len(body)-len(rest)], '\n'):
		text, rest = text+",", body[at:]
	default:
		text += "," + lead
	}
	out := slices.Concat(mark, body[:at], []byte(text), rest)
	// If the member occurs twice, the entry may be in the one that is not read.
	if object, err = servers(out[len(mark):], member); err != nil || object == nil || !object.Has(Server) {
		return nil, errors.New("it has a member twice")
	}
	return out, nil
}

// servers returns the object member of data, nil when it is missing.
func servers(data []byte, member string) (*ojson.Object, error) {
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON object without comments: %w", err)
	}
	v, have := doc.Get(member)
	object, ok := v.(*ojson.Object)
	if have && !ok {
		return nil, fmt.Errorf("its member %s is not an object", member)
	}
	return object, nil
}

// starts reports whether a server's entry starts our program as a server.
func starts(v ojson.Value) bool {
	o, ok := v.(*ojson.Object)
	if !ok {
		return false
	}
	words := append([]string{o.String("command")}, o.Strings("args")...)
	if words[0] == "" {
		words = o.Strings("command")
	}
	return len(words) > 1 && strings.HasSuffix(words[0], "git-agentxchain") && words[len(words)-1] == "mcp"
}

// inside returns the position after the opening brace of the top object in data, for depth 1, or of that of member,
// for depth 2.
func inside(data []byte, member string, depth int) (int, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil || depth == 1 {
		return int(dec.InputOffset()), err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, err
		}
		if key == member {
			_, err := dec.Token()
			return int(dec.InputOffset()), err
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("it has no member " + member)
}

// indent returns the indentation of the first indented line, two spaces if there is none.
func indent(data []byte) string {
	for line := range bytes.Lines(data) {
		if n := len(line) - len(bytes.TrimLeft(line, " \t")); n > 0 && n < 9 {
			return string(line[:n])
		}
	}
	return "  "
}
