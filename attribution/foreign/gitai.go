// Notes of git-ai: refs/notes/ai, in the form that it calls authorship/3.0.0. Above a line "---" each file has its
// name on a line and, indented below, who wrote which lines; a JSON object follows that says who they are.

package foreign

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	gitAIRef    = "refs/notes/ai"
	gitAISchema = "authorship/3."

	maxRanges = 100_000 // of one note
)

// note is a note and the commit it is about.
type note struct{ blob, commit object.OID }

func gitAINotes(ctx context.Context, repo *git.Repository) ([]note, error) {
	out, err := repo.Git.Run(ctx, nil, "notes", "--ref="+gitAIRef, "list")
	if err != nil {
		return nil, err
	}
	var all []note
	for line := range strings.Lines(string(out)) {
		blob, commit, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && object.OID(blob).Valid(repo.ObjectFormat) && object.OID(commit).Valid(repo.ObjectFormat) {
			all = append(all, note{object.OID(blob), object.OID(commit)})
		}
	}
	return all, nil
}

func (b *Book) readGitAI(ctx context.Context, repo *git.Repository, commits []object.OID) error {
	notes, err := gitAINotes(ctx, repo)
	if err != nil {
		return err
	}
	asked := make(map[object.OID]bool, len(commits))
	for _, c := range commits {
		asked[c] = true
	}
	notes = slices.DeleteFunc(notes, func(n note) bool { return !asked[n.commit] })
	names := make([]string, len(notes))
	for i, n := range notes {
		names[i] = string(n.blob)
	}
	return repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		claims, ok := readNote(string(o.Data))
		if !o.Found || !ok {
			b.Unreadable = append(b.Unreadable, notes[i].commit)
			return
		}
		b.commits[notes[i].commit] = append(b.commits[notes[i].commit], claims...)
	})
}

// readNote reads one note; false when it has another form.
func readNote(text string) ([]said, bool) {
	lines, object, ok := strings.Cut("\n"+text, "\n---\n")
	if !ok {
		return nil, false
	}
	who, ok := decode([]byte(object))
	if !ok || !strings.HasPrefix(who.String("schema_version"), gitAISchema) {
		return nil, false
	}
	var out []said
	path := ""
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\r\n")
		entry, indented := strings.CutPrefix(line, "  ")
		switch {
		case line == "":
		case !indented:
			path = line
			if len(path) >= 2 && path[0] == '"' && path[len(path)-1] == '"' {
				path = path[1 : len(path)-1] // a name with spaces
			}
		default:
			key, ranges, ok := strings.Cut(strings.TrimSpace(entry), " ")
			if !ok || path == "" {
				return nil, false
			}
			claim := writer(who, key)
			for r := range strings.SplitSeq(ranges, ",") {
				from, to, ok := lineRange(strings.TrimSpace(r))
				if !ok || len(out) == maxRanges {
					return nil, false
				}
				out = append(out, said{claim, path, from, to})
			}
		}
	}
	return out, true
}

// lineRange reads "12" and "12-20".
func lineRange(s string) (from, to int, ok bool) {
	a, b, two := strings.Cut(s, "-")
	from, err := strconv.Atoi(a)
	if to = from; err == nil && two {
		to, err = strconv.Atoi(b)
	}
	return from, to, err == nil && from > 0 && to >= from
}

// writer returns who a key of the lines identifies: s_ a session, whose key continues after "::", h_ a person, any
// other a session of the older form.
func writer(who *ojson.Object, key string) Claim {
	claim := Claim{Source: GitAI}
	id, _, _ := strings.Cut(key, "::")
	switch {
	case strings.HasPrefix(id, "h_"):
		claim.Person = who.Object("humans").Object(id).String("author")
		return claim
	case strings.HasPrefix(id, "s_"):
		who = who.Object("sessions").Object(id)
	default:
		who = who.Object("prompts").Object(id)
	}
	agent := who.Object("agent_id")
	claim.Agent, claim.Model, claim.Session = agent.String("tool"), agent.String("model"), agent.String("id")
	claim.Person = who.String("human_author")
	return claim
}
