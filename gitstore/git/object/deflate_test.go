package object

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPackedIsRead checks that packed objects of any kind and size are read back unchanged.
func TestPackedIsRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 30, 127, 128, 511, 512, 513, 70_000} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		for _, kind := range []string{KindTree, KindBlob} {
			b, err := Packed([]byte("head"), Object{Kind: kind, Data: data})
			if err != nil {
				t.Fatal(err)
			}
			rest, ok := bytes.CutPrefix(b, []byte("head"))
			if !ok {
				t.Fatalf("%d bytes: what was there is gone", size)
			}
			got, err := Inflate(bytes.NewReader(rest), int64(size))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s of %d bytes: %v", kind, size, err)
			}
		}
	}
}

func BenchmarkPacked(b *testing.B) {
	for _, kind := range []string{KindTree, KindBlob} {
		for _, size := range []int{33, 330, 5000} {
			data := bytes.Repeat([]byte("100644 name\x00\x8f\x03\x1c\xe9\x77\x13\xaa"), 300)[:size]
			b.Run(fmt.Sprint(kind, size), func(b *testing.B) {
				for b.Loop() {
					if _, err := Packed(nil, Object{Kind: kind, Data: data}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
