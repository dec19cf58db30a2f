// Inserting, updating and removing the text between its markers.

package agenttext

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/personfile"
)

const (
	begin = "<!-- git-agentxchain: begin (git agentxchain agents install rewrites what stands up to the end) -->"
	end   = "<!-- git-agentxchain: end -->"
)

//go:embed text.md
var text string

// skillHead begins a new file with the name that agents use for a skill.
const skillHead = "---\nname: governed-repository\n" +
	"description: Work in a repository with governed runs (git agentxchain), with its turns, its gates and the commands an agent may run.\n---\n"

// Install returns the file name with the text in it: at its end, or in place of the existing text. Everything else
// in the file stays byte for byte, including its line ends and a missing final newline, and Remove restores it.
//
// Errors: the markers are not a single pair.
func Install(name string, data []byte) ([]byte, error) {
	from, to, err := find(data)
	if err != nil {
		return nil, err
	}
	eol := personfile.LineEnd(data)
	block := begin + "\n" + text + end
	if from < to {
		return bytes.Join([][]byte{data[:from], []byte(withEnds(block, eol)), data[to:]}, nil), nil
	}
	if len(data) == 0 {
		return []byte(head(name) + block + "\n"), nil
	}
	if bytes.HasSuffix(data, []byte("\n")) {
		return append(bytes.Clone(data), withEnds("\n"+block+"\n", eol)...), nil
	}
	return append(bytes.Clone(data), withEnds("\n\n"+block, eol)...), nil
}

// Remove returns the file name without the text and without the empty line that Install put before it. Nothing is
// left of a file that Install made.
//
// Errors: those of Install.
func Remove(name string, data []byte) ([]byte, error) {
	from, to, err := find(data)
	if err != nil || from == to {
		return data, err
	}
	before, after := data[:from], data[to:]
	eol := []byte(personfile.LineEnd(data))
	if len(after) == 0 { // the file had no final newline
		before = bytes.TrimSuffix(before, eol)
	}
	before, after = bytes.TrimSuffix(before, eol), bytes.TrimPrefix(after, eol)
	if string(before)+"\n" == head(name) && len(after) == 0 {
		return nil, nil
	}
	return append(bytes.Clone(before), after...), nil
}

// head returns the beginning of a new file with that name.
func head(name string) string {
	if path.Base(name) == "SKILL.md" {
		return skillHead + "\n"
	}
	return ""
}

func withEnds(s, eol string) string { return strings.ReplaceAll(s, "\n", eol) }

// find returns where the text is in data, from the first byte of one marker to the last of the other; from equals
// to when it is missing.
func find(data []byte) (from, to int, err error) {
	from, to = -1, -1
	at, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
		content := bytes.TrimRight(line, "\r\n")
		switch s := strings.TrimSpace(string(content)); {
		case strings.HasPrefix(s, "<!-- git-agentxchain: begin") && from < 0 && to < 0:
			from = at
		case s == end && from >= 0 && to < 0:
			to = at + len(content)
		case strings.HasPrefix(s, "<!-- git-agentxchain: "):
			return 0, 0, fmt.Errorf("line %d is a marker without its counterpart, or a second pair", number)
		}
		at += len(line)
	}
	switch {
	case from < 0:
		return 0, 0, nil
	case to < 0:
		return 0, 0, errors.New("it has the first marker without the last one")
	}
	return from, to, nil
}
