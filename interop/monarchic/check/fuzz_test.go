package check

import (
	"testing"
)

// FuzzInput: any bytes are judged without a panic, as any type and as a log, and a verdict says
// why.
func FuzzInput(f *testing.F) {
	for _, data := range samples(f, "valid") {
		f.Add(data, uint8(0), true)
	}
	for _, data := range samples(f, "invalid") {
		f.Add(data, uint8(7), false)
	}
	for _, c := range ruleCases() {
		f.Add([]byte(c.doc), uint8(0), true)
	}
	types := append([]Type{""}, Types()...)
	f.Fuzz(func(t *testing.T, data []byte, typ uint8, lenient bool) {
		s := New(Options{Type: types[int(typ)%len(types)], Lenient: lenient, Log: true})
		r := s.Input("-", data)
		s.Close()
		told := r.Unreadable != ""
		for _, x := range r.Findings {
			if x.Rule == "" || x.Message == "" || x.Severity == "" || x.Pointer != "" && x.Pointer[0] != '/' {
				t.Fatalf("%+v", x)
			}
			told = told || x.Severity == Error
		}
		if r.Valid() == told {
			t.Fatalf("valid %v: %q %+v", r.Valid(), r.Unreadable, r.Findings)
		}
	})
}
