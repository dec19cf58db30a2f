package ledgermerge

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWriteConflict(t *testing.T) {
	for _, tc := range []struct{ name, ours, theirs, want string }{
		{"in the middle", "a\nb\nd\n", "a\nc\nd\n", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\nd\n"},
		{"at the end", "a\nb\n", "a\nc\n", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"},
		{"one side shorter", "a\n", "a\nc\n", "a\n<<<<<<< ours\n=======\nc\n>>>>>>> theirs\n"},
		{"torn", "a\nb", "a\nc\n", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"},
		{"repeated lines", "a\na\n", "a\n", "a\n<<<<<<< ours\na\n=======\n>>>>>>> theirs\n"},
		{"nothing there", "", "x\n", "<<<<<<< ours\n=======\nx\n>>>>>>> theirs\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := WriteConflict(&out, []byte(tc.ours), []byte(tc.theirs), 0, "ours", "theirs"); err != nil ||
				out.String() != tc.want {
				t.Errorf("%v\n%s\nwant\n%s", err, out.String(), tc.want)
			}
		})
	}
}

func TestWriteConflictLosesNothing(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "<<<<<<<"}), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		text := func(l []string) string {
			if len(l) == 0 {
				return ""
			}
			return strings.Join(l, "\n") + "\n"
		}
		ours, theirs := text(lines.Draw(t, "ours")), text(lines.Draw(t, "theirs"))
		var out bytes.Buffer
		if err := WriteConflict(&out, []byte(ours), []byte(theirs), 11, "o", "t"); err != nil {
			t.Fatal(err)
		}
		head, rest, ok1 := strings.Cut(out.String(), "<<<<<<<<<<< o\n")
		a, rest, ok2 := strings.Cut(rest, "===========\n")
		b, tail, ok3 := strings.Cut(rest, ">>>>>>>>>>> t\n")
		if !ok1 || !ok2 || !ok3 || head+a+tail != ours || head+b+tail != theirs {
			t.Fatalf("%q and %q became %q", ours, theirs, out.String())
		}
	})
}

func TestReadable(t *testing.T) {
	var out bytes.Buffer
	err := Readable(&out, strings.NewReader("{\"b\":1,\"a\":[2]}\nno record\n{\"c\":1.50}"))
	want := "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}\nno record\n{\n  \"c\": 1.50\n}\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
