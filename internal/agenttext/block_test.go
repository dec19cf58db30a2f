package agenttext

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestRemoveGivesBack checks that in any file, the text is inserted once and can be removed again.
func TestRemoveGivesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"AGENTS.md", "a/SKILL.md"}).Draw(t, "name")
		var data []byte
		for _, line := range rapid.SliceOf(
			rapid.SampledFrom([]string{"", "text", "\ufeff# x", "<!-- git-agentxchain -->", "---"})).Draw(t, "lines") {
			data = append(data, line+rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(t, "end")...)
		}
		in, err := Install(name, data)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Install(name, in)
		if err != nil || !bytes.Equal(again, in) {
			t.Errorf("the second time changes the file: %v\n%q\n%q", err, in, again)
		}
		out, err := Remove(name, in)
		if err != nil || !bytes.Equal(out, data) {
			t.Errorf("Remove: %v\ngot  %q\nwant %q", err, out, data)
		}
	})
}
