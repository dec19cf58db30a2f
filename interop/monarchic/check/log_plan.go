// A plan and its execution: receipts, verifications and leases name its steps (docs/monarchic.md#types).

package check

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// plans is what is remembered of strict plans and of records that refer to them.
type plans struct {
	steps         map[key]string // plan and step -> its task
	known         map[string]bool
	receipts      map[string]*record // by receipt_id
	verifications []*record
	parts         []*record // leases and receipts: parts of a plan
}

func newPlans() plans {
	return plans{steps: map[key]string{}, known: map[string]bool{}, receipts: map[string]*record{}}
}

func (p *plans) take(r *record) {
	switch r.typ {
	case "client_boundary/plan":
		plan := r.obj.String("plan_id")
		p.known[plan] = true
		for _, s := range r.obj.Objects("steps") {
			p.steps[key{plan, s.String("step_id")}] = s.String("task_id")
		}
	case "client_boundary/execution_receipt":
		p.receipts[r.obj.String("receipt_id")] = r
		p.parts = append(p.parts, r)
	case "client_boundary/verification_receipt":
		p.verifications = append(p.verifications, r)
	case "durable_authority/lease":
		p.parts = append(p.parts, r)
	}
}

// finish: a part of a plan in the log names one of its steps; a lease may belong to a step that was
// planned again, so that is a warning.
func (p *plans) finish() {
	for _, r := range p.parts {
		plan, step := r.obj.String("plan_id"), r.obj.String("step_id")
		if !p.known[plan] {
			continue
		}
		sev := Error
		if r.typ == "durable_authority/lease" {
			sev = Warning
		}
		task, ok := p.steps[key{plan, step}]
		switch {
		case !ok:
			r.add(sev, "step_id", "log.step",
				fmt.Sprintf("plan %s has no step %s", ojson.Shown(plan), ojson.Shown(step)))
		case task != r.obj.String("task_id"):
			r.add(sev, "task_id", "log.step",
				fmt.Sprintf("step %s of plan %s is task %s", ojson.Shown(step), ojson.Shown(plan), ojson.Shown(task)))
		}
	}
	for _, v := range p.verifications {
		for i, id := range v.obj.Strings("execution_receipt_ids") {
			receipt := p.receipts[id]
			switch plan := v.obj.String("plan_id"); {
			case receipt == nil && len(p.receipts) > 0:
				v.fail("execution_receipt_ids", "log.receipt",
					fmt.Sprintf("there is no execution receipt %s", ojson.Shown(id)))
			case receipt != nil && receipt.obj.String("plan_id") != plan:
				v.fail("execution_receipt_ids", "log.receipt",
					fmt.Sprintf("execution receipt %s, number %d, is of another plan than %s", ojson.Shown(id), i+1,
						ojson.Shown(plan)))
			}
		}
	}
}
