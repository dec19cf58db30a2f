// The api_proxy runtime: one request to a model provider for one turn (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Runtime is one api_proxy runtime. The functions may be replaced before the
// first dispatch.
type Runtime struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // ends early with the context's error
	Rand  func() float64                             // in [0,1), for the jitter

	cfg *settings
}

// New reads the options of an api_proxy runtime. Errors: invalid_config.
func New(rt *config.Runtime) (*Runtime, error) {
	cfg, err := readSettings(rt)
	if err != nil {
		return nil, err
	}
	return &Runtime{Now: time.Now, Sleep: sleep, Rand: rand.Float64, cfg: cfg}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heartbeat is how often a request under way reports that it still is.
const heartbeat = 10 * time.Second

// Dispatch asks the provider, again as the retry policy says, and returns the turn result found in
// its answer. It blocks when it could not ask; it rejects an answer without a turn result.
func (r *Runtime) Dispatch(ctx context.Context, req *runtimes.Request) *runtimes.Outcome {
	if !req.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, req.Deadline)
		defer cancel()
	}
	d := &dispatch{Runtime: r, req: req}
	var problem *Failure
	if d.key, problem = r.cfg.key(req.Getenv); problem != nil {
		return d.blocked(problem)
	}
	files, err := openFiles(req)
	if err != nil {
		return d.blocked(&Failure{
			Class:    ClassUnwritable,
			Message:  "The files of the turn cannot be written: " + err.Error(),
			Recovery: "Look at the permissions of .agentxchain" + thenUnblock,
		})
	}
	defer files.close()
	d.files = files
	prompt := d.prepare()
	if d.problem != nil {
		return d.finish(nil, d.problem)
	}
	return d.finish(d.ask(ctx, prompt))
}

// dispatch is one turn in progress.
type dispatch struct {
	*Runtime
	req     *runtimes.Request
	key     string
	files   *files
	problem *Failure // found before anything was sent
	trace   []*ojson.Object
	spent   spending
}

// prompt is the text to send.
type prompt struct{ system, user string }

// prepare makes the texts to send and records the request.
func (d *dispatch) prepare() prompt {
	c := d.cfg
	contextText := string(d.req.Context)
	if c.preflight {
		b := c.fit(systemText, string(d.req.Prompt), contextText)
		contextText = b.context
		d.files.bundle("CONTEXT.effective.md", []byte(contextText))
		d.files.bundleJSON("TOKEN_BUDGET.json", b.report(d.req, c))
		if !b.sent {
			d.problem = c.overflow(b)
		}
	}
	d.files.bundleJSON("API_REQUEST.json",
		ojson.NewObject("provider", c.provider, "model", c.model, "endpoint", c.shownEndpoint(),
			"max_output_tokens", c.maxOutput, "retry_policy", orNull(c.retryRaw),
			"preflight_tokenization", orNull(c.preflightRaw),
			"timestamp", wire.FormatTime(d.Now())))
	return prompt{system: systemText, user: userText(string(d.req.Prompt), contextText)}
}

// userText returns the one message of the user: prompt, then context when there is one.
func userText(prompt, context string) string {
	if strings.TrimSpace(context) == "" {
		return prompt
	}
	return prompt + separator + context
}

const separator = "\n\n---\n\n"

func orNull(o *ojson.Object) ojson.Value {
	if o == nil {
		return nil
	}
	return o
}

// ask sends the request until it is answered or the policy says to stop.
func (d *dispatch) ask(ctx context.Context, p prompt) ([]byte, *Failure) {
	for n := 1; ; n++ {
		began := d.Now()
		result, f := d.once(ctx, p, n)
		row := ojson.NewObject("attempt", n, "started_at", wire.FormatTime(began),
			"completed_at", wire.FormatTime(d.Now()))
		d.trace = append(d.trace, row)
		if f == nil {
			row.Set("outcome", "success")
			return result, nil
		}
		row.Set("outcome", "error")
		row.Set("error_class", f.Class)
		row.Set("http_status", f.status())
		if ctx.Err() != nil {
			return nil, f
		}
		wait, again := d.cfg.retry.next(n, f, d.Rand)
		if again && !d.req.Deadline.IsZero() && d.Now().Add(wait).After(d.req.Deadline) {
			again = false // the time would be up before the answer could come
		}
		if !again {
			return nil, f
		}
		row.Set("next_delay_ms", int(wait.Milliseconds()))
		d.logf("attempt %d: %s; trying again in %s", n, f.Class, wait.Round(time.Millisecond))
		d.req.Activity(runtimes.Activity{
			Type:    "heartbeat",
			Summary: fmt.Sprintf("%s, waiting %s", f.Class, wait.Round(time.Second)),
			Stream:  "request",
		})
		if err := d.Sleep(ctx, wait); err != nil {
			return nil, f
		}
	}
}

// once sends the request one time.
func (d *dispatch) once(ctx context.Context, p prompt, n int) ([]byte, *Failure) {
	c := d.cfg
	d.req.Activity(runtimes.Activity{
		Type:    "request",
		Summary: "asking " + c.provider + " " + c.model,
		Stream:  "request",
	})
	stop := d.beat()
	a := c.send(ctx, d.key, p, d.timeLeft())
	stop()
	d.logf("attempt %d: %s %s answered %s in %s", n, c.provider, c.model, a.describe(), a.took.Round(time.Millisecond))
	d.files.staging("provider-response.json", a.body)
	if f := c.classify(a); f != nil {
		return nil, f
	}
	d.req.Activity(runtimes.Activity{
		Type:    "response",
		Summary: fmt.Sprintf("%d bytes from %s", len(a.body), c.provider),
		Stream:  "request",
	})
	d.spent.add(a.usage)
	result, why := extract(a.text)
	if result == nil {
		return nil, c.noResult(a, why)
	}
	return result, nil
}

// timeLeft returns how long one request may take.
func (d *dispatch) timeLeft() time.Duration {
	left := d.cfg.timeout
	if !d.req.Deadline.IsZero() {
		left = min(left, max(d.req.Deadline.Sub(d.Now()), time.Millisecond))
	}
	return left
}

// beat reports a request under way until the returned function is called.
func (d *dispatch) beat() func() {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(heartbeat)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				d.req.Activity(runtimes.Activity{
					Type:    "heartbeat",
					Summary: "waiting for " + d.cfg.provider,
					Stream:  "request",
				})
			}
		}
	}()
	return func() { close(done); <-stopped }
}

func (d *dispatch) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(d.req.Log, "[api_proxy] "+format+"\n", args...)
}

// finish records how it went and makes the outcome.
func (d *dispatch) finish(result []byte, f *Failure) *runtimes.Outcome {
	if d.cfg.retry.enabled && len(d.trace) > 0 {
		d.files.stagingJSON("retry-trace.json", d.traceDocument(f))
	}
	if f != nil {
		d.files.stagingJSON("api-error.json", f.object())
		return d.blocked(f)
	}
	d.files.dropError()
	out := &runtimes.Outcome{Kind: runtimes.Returned, Result: d.withCost(result)}
	d.bill(out)
	return out
}

// traceDocument returns the content of retry-trace.json.
func (d *dispatch) traceDocument(f *Failure) *ojson.Object {
	outcome := "success"
	if f != nil {
		outcome = "failure"
	}
	return ojson.NewObject("provider", d.cfg.provider, "model", d.cfg.model, "runtime_id", d.cfg.id,
		"run_id", d.req.RunID, "turn_id", d.req.TurnID,
		"max_attempts", d.cfg.retry.attempts, "attempts_made", len(d.trace), "final_outcome", outcome,
		"attempts", d.trace,
		"aggregate_usage", d.spent.object(d.cfg, d.req.Config))
}

// blocked turns a failure into its outcome.
func (d *dispatch) blocked(f *Failure) *runtimes.Outcome {
	// Never retryable: retry_policy has been applied.
	out := &runtimes.Outcome{
		Kind:       runtimes.Blocked,
		Reason:     f.Message,
		Class:      f.Class,
		Recovery:   f.Recovery,
		RetryAfter: f.RetryAfter,
	}
	switch {
	case f.Class == ClassExtraction:
		out.Kind = runtimes.Rejected
	case errors.Is(f.cause, context.Canceled):
		out.Kind = runtimes.Aborted
	case f.Class == ClassTimeout && !d.req.Deadline.IsZero() && !d.Now().Before(d.req.Deadline):
		out.Kind, out.Reason = runtimes.TimedOut, "The turn's time was up before "+d.cfg.provider+" had answered."
	}
	d.logf("%s: %s", f.Class, f.Message)
	d.bill(out)
	return out
}

// withCost writes the cost of the attempts into the result. A model cannot know it: its figure is
// at best the template's zero.
func (d *dispatch) withCost(result []byte) []byte {
	doc, err := ojson.DecodeObject(result)
	if err != nil {
		return result
	}
	cost := doc.Object("cost").Clone()
	if cost == nil {
		cost = &ojson.Object{}
	}
	cost.Delete("total_usd")
	for k, v := range d.spent.object(d.cfg, d.req.Config).All() {
		cost.Set(k, v)
	}
	doc.Set("cost", cost)
	return ojson.Pretty(doc)
}

// bill adds the cost of all attempts to the outcome.
func (d *dispatch) bill(out *runtimes.Outcome) {
	if d.spent.requests == 0 {
		return
	}
	usd := d.spent.usd(d.cfg, d.req.Config)
	out.CostUSD, out.Usage = &usd, d.spent.object(d.cfg, d.req.Config)
}

// Probe reports whether the key is set and, online, whether the endpoint's host
// answers. It spends no tokens.
func (r *Runtime) Probe(ctx context.Context, req *runtimes.ProbeRequest) []runtimes.Finding {
	c := r.cfg
	var out []runtimes.Finding
	if _, f := c.key(req.Getenv); f != nil {
		out = append(out, runtimes.Finding{
			Code:    "auth_env_missing",
			Message: f.Message,
			Hint:    strings.TrimSuffix(f.Recovery, thenUnblock),
		})
	} else if c.authEnv != "" {
		out = append(out, runtimes.Finding{OK: true, Code: "auth_env_set", Message: c.authEnv + " is set."})
	}
	if !req.Online {
		return out
	}
	if err := reach(ctx, c.endpoint); err != nil {
		return append(out, runtimes.Finding{
			Code:    "unreachable",
			Message: "The endpoint " + c.shownEndpoint() + " does not answer: " + err.Error() + ".",
			Hint:    "check base_url of runtime " + c.id + " and the network",
		})
	}
	return append(out, runtimes.Finding{
		OK:      true,
		Code:    "reachable",
		Message: "The endpoint " + c.shownEndpoint() + " answers.",
	})
}
