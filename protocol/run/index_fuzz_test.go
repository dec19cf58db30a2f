package run

import (
	"bytes"
	"testing"
)

// FuzzDecodeIndex: an index that is read is written again unchanged.
func FuzzDecodeIndex(f *testing.F) {
	f.Add((&Index{}).Encode())
	f.Add([]byte(`{"cost_usd":1e300,"mailbox":{},"x":[{"y":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := DecodeIndex(data)
		if err != nil {
			return
		}
		once := x.Encode()
		back, err := DecodeIndex(once)
		if err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if again := back.Encode(); !bytes.Equal(once, again) {
			t.Fatalf("%s\nand then\n%s", once, again)
		}
	})
}
