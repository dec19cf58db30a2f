package secrets

import (
	"bytes"
	"testing"
	"time"
)

func TestMask(t *testing.T) {
	const value = `tök/en"1`
	for in, want := range map[string]string{
		`{"a":"tök/en\"1 and tök/en\"1"}`:                `{"a":"*** and ***"}`,
		`tök/en"1`:                                       `***`,
		`{"a":"\u0074\u00f6\u006B\/\u0065n\u00221"}`:     `{"a":"***"}`,
		`{"text":"{\"a\":\"\\u0074ök/\\u0065n\\\"1\"}"}`: `{"text":"{\"a\":\"***\"}"}`,
		`{"a":"tök/en\"2"}`:                              `{"a":"tök/en\"2"}`,
		`{"a":"\\tök/en`:                                 `{"a":"\\tök/en`,
		`\u007`:                                          `\u007`,
		``:                                               ``,
	} {
		if got := string(Mask([]byte(in), value)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := string(Mask([]byte(`{"a":"x\\y"}`), `x\y`)); got != `{"a":"***"}` {
		t.Error(got)
	}
	if got := string(Mask([]byte("abc"), "")); got != "abc" {
		t.Error(got)
	}
	for _, flood := range []string{`\`, `t`, `\u0074`} {
		began := time.Now()
		Mask(bytes.Repeat([]byte(flood), 4<<20), "tttttttt")
		if took := time.Since(began); took > time.Minute {
			t.Errorf("a flood of %s took %s", flood, took)
		}
	}
}
