// A run whose reviewer is a model behind an API, in a real repository: a refused answer, its retry, the cost, and no
// trace of the key.

package apiproxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
)

const secret = "sk-ant-0123456789-TOP-SECRET"

// project makes a governed repository whose only role is a model.
func project(t *testing.T, runtime *ojson.Object) (string, *runner.Runner) {
	t.Helper()
	testrepo.Isolate()
	dir := testproject.New(t, func(cfg *ojson.Object) {
		cfg.Set("roles", ojson.NewObject("qa",
			ojson.NewObject("title", "QA", "mandate", "Judge it.", "write_authority", "review_only", "runtime", "model")))
		cfg.Set("runtimes", ojson.NewObject("model", runtime))
		cfg.Set("routing", ojson.NewObject("review",
			ojson.NewObject("entry_role", "qa", "allowed_next_roles", []any{"qa", "human"})))
		cfg.Set("rules", ojson.NewObject("challenge_required", true, "max_turn_retries", 2))
		cfg.Set("budget", ojson.NewObject("cost_rates",
			ojson.NewObject("some-model", ojson.NewObject("input_per_1m", 1000, "output_per_1m", 2000))))
		for _, k := range []string{"gates", "prompts"} {
			cfg.Set(k, &ojson.Object{})
		}
		for _, k := range []string{"approval_policy", "workflow_kit"} {
			cfg.Delete(k)
		}
	})
	r, err := runner.Open(context.Background(), dir, runner.Options{Trust: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return dir, r
}

// model answers nonsense first, then with a result made from the prompt.
func model(t *testing.T) (*httptest.Server, *int) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked++
		text := "I would rather talk about my key " + r.Header.Get("X-Api-Key")
		if asked > 1 {
			text = fmt.Sprintf(`{"schema_version":"1.0","run_id":%q,"turn_id":%q,"role":"qa","runtime_id":"model","status":"completed","summary":"judged","decisions":[],
				"objections":[{"id":"OBJ-001","severity":"low","statement":"no tests","status":"raised"}],"files_changed":[],"artifacts_created":[],
				"verification":{"status":"skipped","commands":[],"evidence_summary":"nothing to run","machine_evidence":[]},"artifact":{"type":"review","ref":null},
				"proposed_next_role":"human","phase_transition_request":null,"run_completion_request":true,"needs_human_reason":null,"cost":{"input_tokens":0,"output_tokens":0,"usd":0}}`,
				regexp.MustCompile(`run_[0-9a-f]+`).Find(body), regexp.MustCompile(`turn_[0-9a-f]+`).Find(body))
		}
		quoted, _ := json.Marshal(text)
		_, _ = fmt.Fprintf(w,
			`{"id":"m","type":"message","role":"assistant","model":"some-model","content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":500}}`, quoted)
	}))
	t.Cleanup(srv.Close)
	return srv, &asked
}

func TestRunWithAModel(t *testing.T) {
	srv, asked := model(t)
	dir, r := project(t, ojson.NewObject("type", "api_proxy", "provider", "anthropic", "model", "some-model",
		"auth_env", "MODEL_KEY", "base_url", srv.URL+"/v1/messages",
		"context_window_tokens", 100000, "preflight_tokenization", ojson.NewObject("enabled", true)))
	d := driver.New(r, driver.Options{New: builtin.New, Getenv: func(k string) string {
		if k == "MODEL_KEY" {
			return secret
		}
		return ""
	}})
	sealed := true
	res := loop.Run(context.Background(), r, loop.Options{
		MaxTurns: 3,
		Dispatch: func(ctx context.Context, x *loop.Dispatch) *runtimes.Outcome {
			out := d.Dispatch(ctx, driver.Job{TurnID: x.Turn.TurnID, Deadline: x.Deadline, View: x.View})
			// The files that the dispatch wrote beside the bundle do not break its seal.
			if _, err := r.OpenBundle(ctx, x.View, x.Turn); err != nil {
				sealed = false
				t.Errorf("the bundle: %v", err)
			}
			for _, name := range []string{"API_REQUEST.json", "CONTEXT.effective.md", "TOKEN_BUDGET.json"} {
				if _, err := os.Stat(filepath.Join(dir, x.BundlePath, name)); err != nil {
					t.Errorf("after a dispatch: %v", err)
				}
			}
			return out
		},
	})
	if *asked != 2 || !sealed || len(res.Errors) > 0 {
		t.Fatalf("asked %d times: %+v", *asked, res)
	}
	row, err := r.Record().LastRow(context.Background(), wire.LedgerHistory, "role", "qa")
	if err != nil || row == nil {
		t.Fatalf("history: %v %+v", err, res)
	}
	if usd, _ := row.Row.Object("cost").Float("usd"); usd != 2 || row.Row.String("status") != "completed" {
		t.Errorf("accepted %s", ojson.Compact(row.Row))
	}
	v, err := r.View(context.Background())
	// the refused answer cost as much
	if err != nil || v.State.Status != wire.StatusCompleted || v.State.BudgetStatus.SpentUSD != 4 {
		t.Errorf("state %+v, %v", v.State.BudgetStatus, err)
	}
	secretNowhere(t, dir)
}

// secretNowhere searches every file of the project and every object of git for the key.
func secretNowhere(t *testing.T, dir string) {
	t.Helper()
	files := 0
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			files++
			if bytes.Contains(data, []byte("TOP-SECRET")) {
				t.Errorf("the key is in %s", path)
			}
		}
		return err
	})
	cmd := exec.Command("git", "-C", dir, "cat-file", "--batch-all-objects", "--batch", "--buffer")
	out, err := cmd.Output()
	if err != nil || files == 0 || !bytes.Contains(out, []byte("OBJ-001")) {
		t.Fatalf("nothing was searched: %v", err)
	}
	if i := bytes.Index(out, []byte("TOP-SECRET")); i >= 0 {
		t.Errorf("the key is in git: %.200s", strings.ToValidUTF8(string(out[max(0, i-100):i]), "?"))
	}
}
