// The verifier: which fixtures are sent to a target, and how the answers are judged (docs/conformance.md#checking).

package conformance

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Verifier examines one target with one corpus.
type Verifier struct {
	Capabilities *Capabilities
	Target       Target
	Corpus       *Corpus
	Tier         int    // 1, 2 or 3: fixtures up to this tier
	Surface      string // "" for all
	Profile      string // ProfileCore (also when "") or ProfileStrict
	Jobs         int    // concurrent fixtures; 0 means the number of processors
	TargetRoot   string // named in the report
	Remote       string // named in the report
	Challenger   *Challenger
	Now          func() time.Time
	Progress     func(done, total int) // may be nil; called from several goroutines
}

// verdict is the outcome of one fixture. Failed challenges are in order.
type verdict struct {
	outcome    Outcome
	challenged int
	failed     []ChallengeFailure
}

// Run sends the selected fixtures and reports. It also sends fixtures of an unclaimed surface, unless the surface
// was requested by name, which requires the claim; it does not send fixtures of an unclaimed tier. The error is for
// what prevents the verification: an unclaimed surface, an empty selection, a canceled ctx.
func (v *Verifier) Run(ctx context.Context) (*Report, error) {
	if v.Tier < 1 || v.Tier > 3 {
		return nil, wireError(`Tier must be 1, 2, or 3. Received "%d"`, v.Tier)
	}
	if err := v.Capabilities.CheckSurface(v.Surface); err != nil {
		return nil, err
	}
	profile := cmp.Or(v.Profile, ProfileCore)
	selected := v.Corpus.Select(v.Tier, v.Surface, profile)
	if len(selected) == 0 {
		return nil, v.nothing()
	}
	now := v.Now
	if now == nil {
		now = time.Now
	}
	r := &Report{
		Implementation:  v.Capabilities.Implementation,
		Profile:         profile,
		ProtocolVersion: v.Capabilities.ProtocolVersion,
		Tier:            v.Tier,
		Time:            now(),
		TargetRoot:      v.TargetRoot,
		Remote:          v.Remote,
		FixtureRoot:     v.Corpus.Root,
		Digest:          v.Corpus.Digest(),
		Warnings:        v.Corpus.Warnings,
	}
	for tier := 1; tier <= v.Tier; tier++ {
		t := &TierSummary{Tier: tier, Status: "pass", Surfaces: &ojson.Map[*Count]{}}
		if !v.Capabilities.claims(tier) {
			t.Status, t.Note = "skipped", fmt.Sprintf("Target does not claim Tier %d", tier)
		}
		r.Tiers = append(r.Tiers, t)
	}
	todo := make([]CorpusFixture, 0, len(selected))
	for _, f := range selected {
		if v.Capabilities.claims(f.Tier) {
			todo = append(todo, f)
		}
	}
	verdicts := v.examine(ctx, todo)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the verification was ended early: %w", err)
	}
	if v.Challenger != nil {
		r.Challenges = &Challenges{Seed: v.Challenger.Seed}
	}
	for i, f := range todo {
		r.add(f, verdicts[i].outcome, f.deviation(v.Capabilities))
		if r.Challenges != nil {
			r.Challenges.Run += verdicts[i].challenged
			r.Challenges.Failed = append(r.Challenges.Failed, verdicts[i].failed...)
		}
	}
	r.judge()
	return r, nil
}

// nothing returns the error of an empty selection: passing without fixtures would be a lie.
func (v *Verifier) nothing() error {
	if strict := v.Corpus.Select(v.Tier, v.Surface, ProfileStrict); len(strict) > 0 {
		return fmt.Errorf("the profile %s has no such fixture; %d belong to the profile %s", ProfileCore, len(strict),
			ProfileStrict)
	}
	if v.Surface != "" {
		return fmt.Errorf("no fixture up to tier %d belongs to the surface %s", v.Tier, show(v.Surface))
	}
	return fmt.Errorf("no fixture below %s belongs to tier 1 to %d", v.Corpus.Root, v.Tier)
}

// examine runs the fixtures, several at a time. Verdicts are in fixture order.
func (v *Verifier) examine(ctx context.Context, todo []CorpusFixture) []verdict {
	jobs := v.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	out := make([]verdict, len(todo))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(jobs, len(todo)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(todo) || ctx.Err() != nil {
					return
				}
				out[i] = v.one(ctx, todo[i])
				if n := int(done.Add(1)); v.Progress != nil {
					v.Progress(n, len(todo))
				}
			}
		})
	}
	wg.Wait()
	return out
}

func (v *Verifier) one(ctx context.Context, f CorpusFixture) verdict {
	out := verdict{outcome: v.Target.Execute(ctx, f.Fixture)}
	if v.Challenger != nil && out.outcome.Status == StatusPass {
		out.challenged, out.failed = v.Challenger.challenge(ctx, v.Target, f, out.outcome)
	}
	out.outcome = out.outcome.kept()
	return out
}
