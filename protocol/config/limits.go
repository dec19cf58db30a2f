// Budget and timeouts (docs/spec/configuration.md#budget-and-timeouts, docs/spec/gates.md#timeouts).

package config

func (d *decoder) budget() {
	o := d.top("budget", ProblemBudget)
	if o == nil {
		return
	}
	s := d.section(o, "budget", ProblemBudget, "per_turn_max_usd", "per_run_max_usd")
	b := &Budget{
		PerTurnMaxUSD: s.dollars("per_turn_max_usd"),
		PerRunMaxUSD:  s.dollars("per_run_max_usd"),
		OnExceed:      s.enum("on_exceed", false, "pause_and_escalate", "pause_and_escalate", "warn"),
	}
	d.cfg.Budget = b
	if b.PerTurnMaxUSD != nil && b.PerRunMaxUSD != nil && *b.PerTurnMaxUSD > *b.PerRunMaxUSD {
		d.add(s.code, s.at("per_turn_max_usd"), "", "%s must not be greater than per_run_max_usd",
			s.at("per_turn_max_usd"))
	}
	for e := range s.object("cost_rates").entries() {
		e.named("a model")
		if e.valid() {
			b.CostRates.Set(e.key, CostRate{InputPer1M: e.rate("input_per_1m"), OutputPer1M: e.rate("output_per_1m")})
		}
	}
}

func (s section) rate(key string) float64 {
	const want = "a number of at least 0 (US dollars per million tokens)"
	if !s.o.Has(key) {
		s.missing(key, want)
		return 0
	}
	if f := s.number(key, want, func(f float64) bool { return f >= 0 }); f != nil {
		return *f
	}
	return 0
}

func (d *decoder) timeouts() {
	o := d.top("timeouts", ProblemTimeouts)
	if o == nil {
		return
	}
	s := d.section(o, "timeouts", ProblemTimeouts)
	t := &Timeouts{
		PerTurn:  s.minutes("per_turn_minutes"),
		PerPhase: s.minutes("per_phase_minutes"),
		PerRun:   s.minutes("per_run_minutes"),
		Action:   "escalate",
	}
	d.cfg.Timeouts = t
	if o.String("action") == "skip_phase" {
		d.add(s.code, s.at("action"), "skip_phase",
			"%s must not be skip_phase, which only a phase can have: set routing.<phase>.timeout_action",
			s.at("action"))
		return
	}
	t.Action = s.enum("action", false, "escalate", "escalate", "warn")
}

// Actions of a time limit.
const (
	TimeoutEscalate  = "escalate"
	TimeoutWarn      = "warn"
	TimeoutSkipPhase = "skip_phase"
)
