package conformance

import "testing"

// FuzzFixture: a fixture of any corpus has a valid shape or is refused with a reason.
func FuzzFixture(f *testing.F) {
	f.Add([]byte(`{"fixture_id":"A-1","tier":1,"description":"d","setup":{},"input":{"operation":"x","args":{}},"expected":{"result":"success"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, bad := decodeFixture(data)
		if x == nil && len(bad) == 0 {
			t.Error("refused without a reason")
		}
		_, _ = ReadFixture(data)
	})
}
