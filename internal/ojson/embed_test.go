// Tests that the members of embedded structs belong to the enclosing object.

package ojson

import "testing"

func TestEmbeddedStructsLendTheirMembers(t *testing.T) {
	type Head struct {
		OK bool   `json:"ok"`
		ID string `json:"id,omitempty"`
	}
	type doc struct {
		Head
		Name  string `json:"name"`
		Extra Extra  `json:"-"`
	}
	const in = `{"new":1,"name":"n","id":"x","ok":true}`
	o, err := DecodeObject([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var d doc
	if wrong := Unmarshal(o, &d); len(wrong) > 0 || !d.OK || d.ID != "x" || d.Name != "n" {
		t.Fatalf("%+v %v", d, wrong)
	}
	if got := string(Compact(Marshal(&d))); got != in {
		t.Errorf("written again: %s", got)
	}
	if got := string(Compact(Marshal(doc{Name: "n"}))); got != `{"ok":false,"name":"n"}` {
		t.Errorf("in field order: %s", got)
	}
	o.Set("ok", "yes")
	if wrong := Unmarshal(o, &d); len(wrong) != 1 || wrong[0].Path != "ok" {
		t.Errorf("%v", wrong)
	}
}
