package loop

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// TestMeasuredCostCounts: the runtime's measurement replaces the agent's figure, which stays as a
// claim.
func TestMeasuredCostCounts(t *testing.T) {
	usd := 0.5
	tokens := func() *ojson.Object { return ojson.NewObject("input_tokens", 200, "output_tokens", 20) }
	for _, tc := range []struct {
		name, cost string
		out        *runtimes.Outcome
		want       string // "" when the result stays as it is
	}{
		{"zeros of the template", `{"input_tokens":0,"output_tokens":0,"usd":0}`, &runtimes.Outcome{
			CostUSD: &usd,
			Usage:   tokens(),
		}, `{"input_tokens":200,"output_tokens":20,"usd":0.5}`},
		{"a claim", `{"input_tokens":7,"usd":0.01}`, &runtimes.Outcome{
			CostUSD: &usd,
			Usage:   tokens(),
		}, `{"input_tokens":200,"usd":0.5,"output_tokens":20,"claimed":{"input_tokens":7,"usd":0.01}}`},
		{"no price", `{"input_tokens":0,"output_tokens":0,"usd":0}`, &runtimes.Outcome{Usage: tokens()},
			`{"input_tokens":200,"output_tokens":20}`},
		{"no price, a claim", `{"usd":0.25}`, &runtimes.Outcome{Usage: tokens()},
			`{"usd":0.25,"input_tokens":200,"output_tokens":20}`},
		{"no cost", `null`, &runtimes.Outcome{CostUSD: &usd}, `{"usd":0.5}`},
		{"the same", `{"usd":0.5}`, &runtimes.Outcome{CostUSD: &usd}, ""},
		{"nothing measured", `{"usd":3}`, &runtimes.Outcome{}, ""},
	} {
		data, changed := withCost([]byte(`{"turn_id":"t","cost":`+tc.cost+`,"odd":1}`), tc.out)
		if changed != (tc.want != "") {
			t.Errorf("%s: changed %v", tc.name, changed)
			continue
		}
		doc, err := ojson.DecodeObject(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(ojson.Compact(doc.Object("cost"))); changed && got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		if !doc.Has("odd") {
			t.Errorf("%s: a member is lost", tc.name)
		}
	}
}
