// Tests that decompression in memory says what compress/zlib says.

package object

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// deflated are contents of several shapes, compressed at several levels.
func deflated(t testing.TB) (plain, packed [][]byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	skewed := make([]byte, 200000) // codes of every length
	for i := range skewed {
		skewed[i] = byte(min(r.ExpFloat64()*12, 255))
	}
	var rows strings.Builder
	for i := range 400 {
		_, _ = fmt.Fprintf(&rows, `{"turn_id":"turn_%016x","status":"accepted","sequence":%d}`+"\n", r.Uint64(), i)
	}
	contents := [][]byte{nil, {'a'}, []byte("abc"), bytes.Repeat([]byte{7}, 1000), bytes.Repeat([]byte("ab"), 40000),
		noise[:40], noise, skewed, []byte(rows.String()), append(noise[:1000:1000], rows.String()...)}
	for _, c := range contents {
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.DefaultCompression,
			zlib.BestCompression} {
			var b bytes.Buffer
			z, err := zlib.NewWriterLevel(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			half := len(c) / 2
			_, _ = z.Write(c[:half])
			if len(c)%2 == 0 {
				_ = z.Flush()
			}
			_, _ = z.Write(c[half:])
			_ = z.Close()
			plain, packed = append(plain, c), append(packed, b.Bytes())
		}
	}
	return plain, packed
}

func TestInflateBytes(t *testing.T) {
	plain, packed := deflated(t)
	for i, src := range packed {
		dst := make([]byte, len(plain[i]))
		for _, after := range []string{"", "x", "more than eight bytes"} {
			clear(dst)
			if ended, err := InflateBytes(dst, append(src[:len(src):len(src)], after...)); err != nil || !ended ||
				!bytes.Equal(dst, plain[i]) {
				t.Fatalf("%d: %v", i, err)
			}
		}
		for cut := range min(len(src), 300) {
			if ended, err := InflateBytes(dst, src[:len(src)-1-cut]); err == nil || ended {
				t.Fatalf("%d without its last %d bytes: %v", i, cut+1, err)
			}
		}
		for _, size := range []int{len(dst) - 1, len(dst) + 1} {
			if size < 0 {
				continue
			}
			if ended, err := InflateBytes(make([]byte, size), src); err == nil || !ended {
				t.Fatalf("%d taken for %d bytes: %v", i, size, err)
			}
		}
	}
}

// TestInflateBytesDamaged changes bits: what is taken is what compress/zlib takes.
func TestInflateBytesDamaged(t *testing.T) {
	plain, packed := deflated(t)
	for i, src := range packed {
		if len(src) > 20000 {
			continue
		}
		step := 1 + len(src)/40
		for at := 0; at < len(src); at += step {
			for bit := range 8 {
				bad := bytes.Clone(src)
				bad[at] ^= 1 << bit
				sameAsZlib(t, bad, len(plain[i]))
			}
		}
	}
}

func sameAsZlib(t *testing.T, src []byte, size int) {
	t.Helper()
	dst := make([]byte, size)
	_, err := InflateBytes(dst, src)
	if err != nil {
		return // compress/zlib is asked then
	}
	z, zerr := zlib.NewReader(bytes.NewReader(src))
	var want []byte
	if zerr == nil {
		want, zerr = io.ReadAll(z)
	}
	if zerr != nil || !bytes.Equal(dst, want) {
		t.Fatalf("taken for %d bytes where compress/zlib says %v: %x", size, zerr, src[:min(len(src), 100)])
	}
}

func FuzzInflateBytes(f *testing.F) {
	plain, packed := deflated(f)
	for i, src := range packed {
		if len(src) < 2000 {
			f.Add(src, uint16(len(plain[i])))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint16) { sameAsZlib(t, src, int(size)) })
}

func BenchmarkInflate(b *testing.B) {
	plain, packed := deflated(b)
	for _, i := range []int{17, 28, 42} {
		dst := make([]byte, len(plain[i]))
		b.Run(fmt.Sprintf("memory-%d", len(dst)), func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				if _, err := InflateBytes(dst, packed[i]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("zlib-%d", len(dst)), func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				if _, err := Inflate(bytes.NewReader(packed[i]), int64(len(dst))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
