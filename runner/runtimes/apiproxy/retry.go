// When a request is repeated, and after how long (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"math"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maxWait is the longest time between two attempts. If the provider asks for more, the caller
// decides.
const maxWait = 5 * time.Minute

// maxAttempts bounds what a configuration can ask for.
const maxAttempts = 100

// policy is retry_policy with its defaults.
type policy struct {
	enabled    bool
	attempts   int
	base, most time.Duration
	multiplier float64
	jitter     bool
	on         []string // classes; nil for every retryable one
}

func readPolicy(o *ojson.Object) policy {
	p := policy{enabled: o.Bool("enabled"), attempts: 3, base: time.Second, most: 8 * time.Second, multiplier: 2}
	if n, ok := o.Int("max_attempts"); ok && n > 0 {
		p.attempts = min(n, maxAttempts)
	}
	p.base = milliseconds(o, "base_delay_ms", p.base)
	p.most = milliseconds(o, "max_delay_ms", max(p.most, p.base))
	if f, ok := o.Float("backoff_multiplier"); ok && f > 0 {
		p.multiplier = f
	}
	p.jitter = o.String("jitter") == "full"
	if o.Has("retry_on") {
		p.on = append([]string{}, o.Strings("retry_on")...)
	}
	if !p.enabled {
		p.attempts = 1
	}
	return p
}

func milliseconds(o *ojson.Object, key string, def time.Duration) time.Duration {
	ms, ok := o.Float(key)
	if !ok || ms < 0 {
		return def
	}
	return time.Duration(min(ms, float64(time.Hour.Milliseconds())) * float64(time.Millisecond))
}

// next says how long to wait after attempt n failed, and whether to try again at all.
func (p *policy) next(n int, f *Failure, random func() float64) (time.Duration, bool) {
	if !p.enabled || n >= p.attempts || !f.Retryable || p.on != nil && !slices.Contains(p.on, f.Class) ||
		f.RetryAfter > maxWait {
		return 0, false
	}
	return max(p.delay(n+1, random), f.RetryAfter), true
}

// delay returns the pause before attempt n: min(max, base × multiplier^(n-2)), with full jitter
// anything from 0 to that.
func (p *policy) delay(n int, random func() float64) time.Duration {
	d := min(float64(p.most), float64(p.base)*math.Pow(p.multiplier, float64(n-2)))
	if math.IsNaN(d) || d < 0 {
		d = 0
	}
	if p.jitter {
		d *= random()
	}
	return min(time.Duration(d), maxWait)
}
