// Stage D: the verification claim is consistent with its evidence (docs/spec/results.md#verification-stage).

package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func checkVerification(r *stageReport, c *stageContext) {
	v := c.doc.Object("verification")
	pass := v.String("status") == "pass"
	if pass && len(v.Array("commands")) == 0 && len(v.Array("machine_evidence")) == 0 &&
		wire.Blank(v.String("evidence_summary")) {
		r.warnf(`verification.status is "pass" without any evidence: no commands, no machine_evidence, no evidence_summary`)
	}
	for i, cmd := range v.Array("commands") {
		if at := indexed("verification.commands", i); !nonBlank(cmd) {
			r.errorf(ProblemCommand, at, "", "%s must be a string that is not blank", at)
		}
	}
	checkEvidence(r, v.Array("machine_evidence"), pass, c.in.Config.StrictResults())
	if !c.in.Earlier.FreeExitCode {
		checkExitCode(r, v, pass)
	}
	checkProducedFiles(r, c, v.Array("produced_files"))
}

// checkExitCode checks an exit code beside the status against it, as checkEvidence does for single commands. No
// schema has the member, yet participants write it.
func checkExitCode(r *stageReport, v *ojson.Object, pass bool) {
	code, ok := v.Int("exit_code")
	if !pass || !ok || code == 0 {
		return
	}
	if want, declared := v.Int("expected_exit_code"); declared && want == code {
		return
	}
	r.errorf(ProblemNonZeroExit, "verification.exit_code", "",
		`verification.status is "pass" but verification.exit_code is %d; give the code that proves success as verification.expected_exit_code, or do not claim a pass`, code)
}

func checkEvidence(r *stageReport, items []any, pass, strict bool) {
	undeclared, expected := 0, 0
	for i, item := range items {
		at := indexed("verification.machine_evidence", i)
		o, ok := item.(*ojson.Object)
		if !ok {
			r.errorf(ProblemEvidence, at, "", "%s must be an object, not %s", at, ojson.TypeName(item))
			continue
		}
		if !nonBlank(o.Value("command")) {
			r.errorf(ProblemEvidence, at+".command", "", "%s.command must be a string that is not blank", at)
		}
		code, okCode := o.Int("exit_code")
		if v, _ := o.Get("exit_code"); !okCode {
			r.errorf(ProblemEvidence, at+".exit_code", "", "%s.exit_code must be an integer, not %s", at,
				wire.Shown(v))
		}
		want, okWant := o.Int("expected_exit_code")
		if v, _ := o.Get("expected_exit_code"); v != nil && !okWant {
			r.errorf(ProblemEvidence, at+".expected_exit_code", "", "%s.expected_exit_code must be an integer, not %s",
				at, wire.Shown(v))
		}
		switch {
		case okCode && code == 0 && okWant && want != 0 && pass:
			// The command was expected to fail and did not, so it did not show what it should.
			const why = "%s.exit_code is 0, but expected_exit_code is %d: the command did not fail as it was meant to"
			if strict {
				r.errorf(ProblemUnexpectedZero, at+".exit_code", "", why, at, want)
			} else {
				r.warnf(why, at, want)
			}
		case !okCode || code == 0:
		case okWant && want == code:
			expected++
		default:
			undeclared++
		}
	}
	if !pass {
		return
	}
	if undeclared > 0 {
		r.errorf(ProblemNonZeroExit, "verification.machine_evidence", "",
			`verification.status is "pass" but %d command(s) ended with another exit code than expected; give the code that proves success as expected_exit_code, or do not claim a pass`, undeclared)
	}
	if expected > 0 {
		r.warnf(`verification.status is "pass" with %d command(s) whose non-zero exit code is declared as expected`,
			expected)
	}
}

func checkProducedFiles(r *stageReport, c *stageContext, items []any) {
	declared := make(map[string]bool, len(c.result.FilesChanged))
	for _, p := range c.result.FilesChanged {
		declared[pathKey(p)] = true
	}
	first := make(map[string]int, len(items))
	for i, item := range items {
		at := indexed("verification.produced_files", i)
		o, ok := item.(*ojson.Object)
		if !ok {
			r.errorf(ProblemProducedFile, at, "", "%s must be an object, not %s", at, ojson.TypeName(item))
			continue
		}
		path, _ := o.Get("path")
		if !nonBlank(path) {
			r.errorf(ProblemProducedFile, at+".path", "", "%s.path must be a string that is not blank", at)
		}
		disposition, _ := o.Get("disposition")
		if disposition != nil && disposition != "artifact" && disposition != "ignore" {
			r.errorf(ProblemProducedFile, at+".disposition", "", "%s.disposition must be artifact or ignore, not %s",
				at, wire.Shown(disposition))
		}
		if !nonBlank(path) {
			continue
		}
		p := o.String("path")
		key := pathKey(p)
		if j, dup := first[key]; dup {
			r.errorf(ProblemProducedTwice, at+".path", p,
				"%s.path names %s, which verification.produced_files[%d] names already", at, wire.Shown(p), j)
		} else {
			first[key] = i
		}
		if disposition == "ignore" && declared[key] {
			r.errorf(ProblemIgnoredFile, at+".disposition", p, "%s marks %s as ignore, but files_changed lists it", at,
				wire.Shown(p))
		}
	}
}

// pathKey returns the spelling under which two declared paths are the same file.
func pathKey(p string) string {
	if clean, problem := wire.CleanPath(wire.Trim(p)); problem == "" {
		return clean
	}
	return p
}
