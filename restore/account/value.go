// Reading values of an artifact for a report, whatever their type.

package account

import (
	"math"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// Files that reports read.
const (
	pathHistory   = ".agentxchain/history.jsonl"
	pathDecisions = ".agentxchain/decision-ledger.jsonl"
	pathEvents    = ".agentxchain/events.jsonl"
	pathHookAudit = ".agentxchain/hook-audit.jsonl"
	pathHuman     = ".agentxchain/human-escalations.jsonl"
	pathSession   = ".agentxchain/session.json"
	pathIntents   = ".agentxchain/intake/intents/"
	pathVerdict   = ".planning/ship-verdict.md"

	multiState         = ".agentxchain/multirepo/state.json"
	multiHistory       = ".agentxchain/multirepo/history.jsonl"
	multiBarriers      = ".agentxchain/multirepo/barriers.json"
	multiDecisions     = ".agentxchain/multirepo/decision-ledger.jsonl"
	multiBarrierLedger = ".agentxchain/multirepo/barrier-ledger.jsonl"
	multiRecovery      = ".agentxchain/multirepo/RECOVERY_REPORT.md"
)

// orNull returns v, or null if v is falsy.
func orNull(v any) any {
	if ojson.Truthy(v) {
		return v
	}
	return nil
}

// first returns the first member with a truthy value, or null.
func first(o *ojson.Object, keys ...string) any {
	for _, k := range keys {
		if v := o.Value(k); ojson.Truthy(v) {
			return v
		}
	}
	return nil
}

// integer returns an integer member, or null.
func integer(o *ojson.Object, key string) any {
	if f, ok := o.Float(key); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int(f)
	}
	return nil
}

// finite returns a member that is a finite number.
func finite(o *ojson.Object, key string) (float64, bool) {
	f, ok := o.Float(key)
	return f, ok && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// numberOrNull is finite as a value.
func numberOrNull(o *ojson.Object, key string) any {
	if _, ok := finite(o, key); ok {
		return o.Value(key)
	}
	return nil
}

// count returns a member that is a count, else 0.
func count(o *ojson.Object, key string) int {
	n, _ := integer(o, key).(int)
	return max(n, 0)
}

// texts returns the strings in an array member, never nil.
func texts(o *ojson.Object, key string) []string {
	if list := o.Strings(key); list != nil {
		return list
	}
	return []string{}
}

// pick copies string members, null for others.
func pick(from *ojson.Object, keys ...string) *ojson.Object {
	o := &ojson.Object{}
	for _, k := range keys {
		o.Set(k, ojson.OrNull(from.String(k)))
	}
	return o
}

// dollars rounds away the errors of adding binary fractions.
func dollars(f float64) ojson.Number { return ojson.Float(math.Round(f*1e9) / 1e9) }

// byTime sorts rows stably by the text of their time: ledgers are already in order where times are equal or
// missing.
func byTime(rows []*ojson.Object) []*ojson.Object {
	slices.SortStableFunc(rows, func(a, b *ojson.Object) int {
		return restore.CodeUnits(a.String("timestamp"), b.String("timestamp"))
	})
	return rows
}

// orEmpty converts rows to an array that is never null.
func orEmpty(rows []*ojson.Object) []*ojson.Object {
	if rows == nil {
		return []*ojson.Object{}
	}
	return rows
}

// sortedNames returns the distinct names in the order of an artifact.
func sortedNames(names []string) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, restore.Collate)
	names = slices.Compact(names)
	if names == nil {
		names = []string{}
	}
	return names
}

// seconds returns the rounded time between two instants, null when one is not a time or the second is the earlier.
func seconds(from, to any) any {
	a, _ := from.(string)
	b, _ := to.(string)
	ms, ok := wire.DurationMS(a, b)
	if !ok {
		return nil
	}
	return int((ms + 500) / 1000)
}
