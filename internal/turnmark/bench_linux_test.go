package turnmark

import "testing"

// BenchmarkInside is what each operation pays for the question who asks.
func BenchmarkInside(b *testing.B) {
	none := func(string) string { return "" }
	for b.Loop() {
		if id := Inside(none); id != "" {
			b.Fatal(id)
		}
	}
}
