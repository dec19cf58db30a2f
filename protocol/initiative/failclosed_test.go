// Words that the coordinator's configuration does not know, and empty names, are refused wherever they are.

package initiative

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// choice matches the texts that a person chooses, including unknown members.
var choice = regexp.MustCompile(
	`^(note|project\..*|repos\.\w+\.(path|default_branch)|hooks\..*\.(name|command\.\d+)|.*decision_ids_by_repo.*)$`)

// stringsOf calls f with the steps to every string below v.
func stringsOf(at []string, v ojson.Value, f func(steps []string)) {
	switch v := v.(type) {
	case string:
		f(at)
	case []any:
		for i := range v {
			stringsOf(append(slices.Clip(at), strconv.Itoa(i)), v[i], f)
		}
	case *ojson.Object:
		for k, m := range v.All() {
			stringsOf(append(slices.Clip(at), k), m, f)
		}
	}
}

// changed returns goodConfig with the string at steps replaced.
func changed(t *testing.T, steps []string, text string) *ojson.Object {
	t.Helper()
	root := object(t, goodConfig)
	var at ojson.Value = root
	for i, step := range steps {
		last := i == len(steps)-1
		switch v := at.(type) {
		case *ojson.Object:
			if at, _ = v.Get(step); last {
				v.Set(step, text)
			}
		case []any:
			n, _ := strconv.Atoi(step)
			if at = v[n]; last {
				v[n] = text
			}
		}
	}
	return root
}

func TestUnknownWordsAndEmptyNamesAreRefused(t *testing.T) {
	tried := 0
	stringsOf(nil, object(t, goodConfig), func(steps []string) {
		path := strings.Join(steps, ".")
		values := []string{"", " "}
		if path == "note" {
			return
		}
		if !choice.MatchString(path) {
			values = append(values, "no-such-word")
		}
		for _, value := range values {
			tried++
			if _, p := DecodeObject(changed(t, steps, value)); len(p) == 0 {
				t.Errorf("%s %q passes", path, value)
			}
		}
	})
	if tried < 100 {
		t.Errorf("only %d values were tried", tried)
	}
	for _, section := range []string{"repos", "workstreams", "routing", "gates", "hooks"} {
		root := object(t, goodConfig)
		root.Object(section).Set("", ojson.NewObject())
		if _, p := DecodeObject(root); len(p) == 0 {
			t.Errorf("%s with an empty name passes", section)
		}
	}
}
