// A whole log in words.

package agentstream

import "strings"

// ofOurs marks the runtime's own notes between the agent's lines.
const ofOurs = "[adapter:diag] "

// Words returns the steps of a log, one text each: what the agent said and did, without the runtime's own notes.
func Words(log []byte) []string {
	out := []string{}
	for line := range strings.Lines(strings.ToValidUTF8(string(log), "\ufffd")) {
		line = strings.TrimRight(line, "\r\n")
		if text, _ := Step(line); !strings.HasPrefix(line, ofOurs) && strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}
