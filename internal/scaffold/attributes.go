// The .gitattributes block of a governed project, for people who let git track the ledgers.

package scaffold

import "strings"

// attributesMarker opens the block; a file that contains it was merged before.
const attributesMarker = "# git-agentxchain: ledgers are append-only records, joined by record and shown a member a line"

// attributeGroups assigns to the JSONL ledgers the merge driver and the text conversion that "git agentxchain hooks
// install" defines. Where they are undefined git uses its own, and two grown ledgers are an ordinary conflict.
// -text: a changed line end would be a changed record.
func attributeGroups() []blockGroup {
	return []blockGroup{{"# defined by: git agentxchain hooks install",
		[]string{".agentxchain/*.jsonl -text merge=agentxchain diff=agentxchain"}}}
}

// mergeAttributes appends the missing lines to an existing .gitattributes. A person's own line for the same pattern
// takes precedence.
func mergeAttributes(existing []byte) []byte {
	return mergeBlock(existing, attributesMarker, attributeGroups(), func(line string) string {
		pattern, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		return pattern
	})
}
