// The rules of leases, recovery, overrides and the service boundary (docs/leases.md).

package check

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func (j *judge) authorityRules(t Type, o *ojson.Object, at string) {
	switch t {
	case "durable_authority/fencing_token":
		j.notBlank(o, at, "fencing token", "token")
	case "durable_authority/lease":
		j.notBlank(o, at, "lease", "runner_id", "session_id")
		if before(o, "expires_at_ms", "issued_at_ms") {
			j.fail(ojson.Member(at, "expires_at_ms"), "lease.times", "a lease cannot end before it was issued")
		}
	case "durable_authority/recovery_event":
		j.recovery(o, at)
	case "durable_authority/manual_override_record":
		j.override(o, at)
	case "service_boundary/auth_context":
		j.notBlank(o, at, "auth context", "contract_version", "credential_id")
		j.specified(o, at, "auth context", "mechanism")
		if before(o, "expires_at", "issued_at") {
			j.fail(ojson.Member(at, "expires_at"), "auth.times", "an authority cannot end before it begins")
		}
	case "service_boundary/usage_record":
		j.notBlank(o, at, "usage record", "contract_version")
		j.specified(o, at, "usage record", "category", "unit")
		if n, ok := o.Int("quantity"); ok && n == 0 {
			j.fail(ojson.Member(at, "quantity"), "usage.quantity", "a quantity must be more than 0")
		}
	case "service_boundary/audit_export_manifest":
		j.notBlank(o, at, "audit export manifest", "contract_version")
		j.notEmpty(o, at, "artifact_descriptors", "an audit export manifest needs at least one artifact descriptor")
	case "service_boundary/control_plane_queue_job":
		j.queueJob(o, at)
	}
}

// recovery: what each kind of event must say (docs/leases.md).
func (j *judge) recovery(o *ojson.Object, at string) {
	j.notBlank(o, at, "recovery event", "actor", "contract_version")
	need := func(name, because string) {
		if o.Value(name) == nil {
			j.fail(ojson.Member(at, name), "recovery.member", fmt.Sprintf("%s needs %s", because, name))
		}
	}
	switch kind := o.String("kind"); kind {
	case "lease_rejected":
		need("lease_rejection_reason", "a lease_rejected event")
	case "step_requeued", "step_blocked", "lease_restored":
		need("step_id", "a "+kind+" event")
	case "run_recovered":
		need("run_state", "a run_recovered event")
	}
	if o.Value("step_state") != nil {
		need("step_id", "an event with a step_state")
	}
}

func (j *judge) override(o *ojson.Object, at string) {
	const label = "manual override"
	j.notBlank(o, at, label, "contract_version", "override_id", "run_id", "plan_id", "actor", "reason")
	for _, name := range []string{"step_id", "task_id", "source_decision_id", "supersedes_override_id"} {
		if s, ok := textOf(o, name); ok && blank(s) {
			j.fail(ojson.Member(at, name), "strict.blank", fmt.Sprintf("%s %s must not be empty when present", label, name))
		}
	}
	j.specified(o, at, label, "action")
	from, to := moment(o, "created_at_ms"), moment(o, "expires_at_ms")
	if from != nil && to != nil && to.Cmp(from) <= 0 {
		j.fail(ojson.Member(at, "expires_at_ms"), "override.times",
			"manual override expires_at_ms must be greater than created_at_ms")
	}
}

const queueJobVersion = "monarchic.control-plane.queue-job.v1"

func (j *judge) queueJob(o *ojson.Object, at string) {
	if s, ok := textOf(o, "contract_version"); ok && strings.TrimSpace(s) != queueJobVersion {
		j.fail(ojson.Member(at, "contract_version"), "unsupported_version",
			fmt.Sprintf("version %s is not supported; %q is", ojson.Shown(s), queueJobVersion))
	}
	dispatch := o.Object("dispatch")
	if queue, ok := textOf(o, "queue"); ok && dispatch.Has("queue") && dispatch.String("queue") != queue {
		j.fail(ojson.Member(at, "queue"), "queue.mismatch", "the queue must be that of the dispatch")
	}
	if tenant := o.Object("auth_context").Object("tenant"); tenant != nil &&
		tenant.String("tenant_id") != dispatch.String("tenant_id") {
		j.fail(ojson.Member(ojson.Member(ojson.Member(at, "auth_context"), "tenant"), "tenant_id"), "queue.mismatch",
			"the tenant must be that of the dispatch")
	}
	snapshot := o.Object("run_snapshot")
	for _, name := range []string{"tenant_id", "project_key", "run_id"} {
		for _, spelling := range []string{name, wire.LowerCamel(name)} {
			if v, ok := snapshot.Get(spelling); ok && dispatch != nil && v != dispatch.String(name) {
				j.fail(ojson.Member(ojson.Member(at, "run_snapshot"), spelling), "queue.mismatch",
					fmt.Sprintf("must be the %s of the dispatch", name))
			}
		}
	}
}
