// Tests that compare the kept part of a stream with the whole stream.

package process

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestCapture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{
			Limit:          rapid.IntRange(0, 40).Draw(t, "limit"),
			KeepTail:       rapid.Bool().Draw(t, "tail"),
			KillOnOverflow: rapid.Bool().Draw(t, "kill"),
		}
		overflow := make(chan struct{}, 1)
		c := newCapture(s, overflow)
		var all []byte
		for _, p := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 60), 0, 8).Draw(t, "writes") {
			if n, err := c.Write(p); n != len(p) || err != nil {
				t.Fatalf("write: %d, %v", n, err)
			}
			all = append(all, p...)
		}
		want := all[:min(len(all), s.Limit)]
		if s.KeepTail {
			want = all[len(all)-len(want):]
		}
		if got := c.bytes(); !bytes.Equal(got, want) {
			t.Fatalf("kept %v, want %v", got, want)
		}
		if told := len(overflow) == 1; told != (s.KillOnOverflow && len(all) > s.Limit) {
			t.Fatalf("told of overflow: %v", told)
		}
	})
}
