package archive

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// FuzzList checks that every clone arrives at the same list, whatever lines it received and in whatever order.
func FuzzList(f *testing.F) {
	f.Add([]byte(`{"run_id":"run_1","state":"archived","change":1,"op":"`+string(bytes.Repeat([]byte("ab"), 20))+
		`","operations":3,"status":"completed","ended_at":"2026-01-02T03:04:05.000Z","by":"Ada","at":"2026-01-02T03:04:05.000Z"}`+"\n"),
		[]byte("{}\nnone\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := decode(a, object.FormatSHA1), decode(b, object.FormatSHA1)
		one, other := x.Merge(y).encode(), y.Merge(x).encode()
		if !bytes.Equal(one, other) {
			t.Errorf("%s\nand the other way\n%s", one, other)
		}
		if again := decode(one, object.FormatSHA1).encode(); !bytes.Equal(again, one) {
			t.Errorf("%s\nread again\n%s", one, again)
		}
	})
}
