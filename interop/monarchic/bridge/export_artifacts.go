// Artifacts: the files that accepted turns left, and their results
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// artifactFile is one file of an accepted turn.
type artifactFile struct {
	id     string
	path   string
	digest string // sha256:<hex>; "" for a file that was deleted or could not be read
	state  string // the marker as recorded, "" when there is none
	kind   strict.ArtifactKind
	source string // type of the portable artifact
}

// artifactFiles returns the effective files of an accepted turn and, last, its result.
func (x *Export) artifactFiles(row *ojson.Object) []artifactFile {
	turn := row.String("turn_id")
	if turn == "" {
		return nil
	}
	produced := make(map[string]bool)
	for _, p := range row.Object("verification").Array("produced_files") {
		switch p := p.(type) {
		case string:
			produced[p] = true
		case *ojson.Object:
			produced[p.String("path")] = true
		}
	}
	markers := row.Object("observed_artifact").Object("file_markers")
	kind := "patch"
	if role := x.facts.cfg.Role(row.String("role")); role != nil && role.WriteAuthority == wire.ReviewOnly {
		kind = "review"
	}
	var out []artifactFile
	for _, p := range row.Strings("files_changed") {
		a := artifactFile{
			id:     artifactID(turn, p),
			path:   p,
			state:  markers.String(p),
			kind:   strict.ArtifactPatch,
			source: kind,
		}
		if marker(a.state) {
			a.digest = a.state
		}
		if strings.HasPrefix(p, ".planning/") {
			a.source = "report"
		}
		switch {
		case produced[p]:
			a.kind = strict.ArtifactTestReport
		case a.source != "patch":
			a.kind = strict.ArtifactCustom
		}
		out = append(out, a)
	}
	result := wire.StagingPath(turn)
	return append(out, artifactFile{
		id:     artifactID(turn, result),
		path:   result,
		digest: x.outputDigest(row),
		kind:   strict.ArtifactCustom,
		source: "report",
	})
}

// outputDigest covers the result of an accepted turn. When that is not recorded, as for turns that
// another tool accepted, it covers the history row instead.
func (x *Export) outputDigest(row *ojson.Object) string {
	turn := row.String("turn_id")
	if x.outputs[turn] == "" {
		source := asAccepted(row)
		if result := x.facts.results[turn]; result != nil {
			source = result
		}
		x.outputs[turn] = x.digest(source)
	}
	return x.outputs[turn]
}

func (x *Export) artifacts(strictly bool) ([]Object, error) {
	var out []Object
	for _, row := range x.facts.history {
		if strictly {
			for _, d := range x.descriptors(row) {
				out = append(out, object("client_boundary/artifact_descriptor", &d))
			}
			continue
		}
		provenance := x.provenance(row)
		for _, a := range x.artifactFiles(row) {
			source := ojson.NewObject("turn_id", row.String("turn_id"), "role", row.String("role"),
				"phase", row.String("phase"))
			if a.digest != "" {
				source.Set("digest", a.digest)
			} else {
				source.Set("marker", cmp.Or(a.state, "unknown"))
			}
			out = append(out, object("artifact", &portable.Artifact{
				Version:    portable.Version,
				ArtifactID: a.id,
				Type:       a.source,
				Summary:    row.String("summary"),
				Path:       a.path,
				TaskID:     row.String("turn_id"),
				Provenance: provenance,
				Extensions: ours(source),
			}))
		}
	}
	return out, nil
}

// descriptors returns the artifacts of a turn that have a digest.
func (x *Export) descriptors(row *ojson.Object) []strict.ArtifactDescriptor {
	out := []strict.ArtifactDescriptor{}
	for _, a := range x.artifactFiles(row) {
		if a.digest != "" {
			out = append(out, strict.ArtifactDescriptor{
				ArtifactID:      a.id,
				Kind:            a.kind,
				Digest:          a.digest,
				MediaType:       mediaType(a.path),
				LogicalName:     a.path,
				Producer:        cmp.Or(row.String("runtime_id"), config.RuntimeManual),
				ContractVersion: portable.Version,
			})
		}
	}
	return out
}

// artifactIDs returns the ids of a turn's descriptors.
func (x *Export) artifactIDs(turn string) []string {
	out := []string{}
	for _, d := range x.descriptors(x.facts.accepted[turn]) {
		out = append(out, d.ArtifactID)
	}
	return out
}

// markers returns the contents that the accepted turns left, sorted, each once.
func markers(rows ...*ojson.Object) []string {
	out := []string{}
	for _, row := range rows {
		observed := row.Object("observed_artifact").Object("file_markers")
		for _, p := range row.Strings("files_changed") {
			if m := observed.String(p); marker(m) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// provenance says how an accepted turn came about.
func (x *Export) provenance(row *ojson.Object) *portable.Provenance {
	turn, runtime := row.String("turn_id"), cmp.Or(row.String("runtime_id"), config.RuntimeManual)
	p := &portable.Provenance{
		PromptSHA256: x.facts.handedTo(turn).prompt,
		CodeSHA256:   wire.SHA256([]byte(acceptedCommit(row))),
		Runtime:      x.runtimeType(runtime),
		Runner:       runtime,
		Orchestrator: x.program(),
		CreatedAt:    x.timestamp(row.String("accepted_at")),
		SourceTaskID: turn,
	}
	if rt, ok := x.facts.cfg.Runtimes.Get(runtime); ok && rt != nil {
		p.Model = rt.Raw.String("model")
	}
	return p
}

// acceptedCommit returns the id of the commit that a turn was accepted on.
func acceptedCommit(row *ojson.Object) string {
	return strings.TrimPrefix(row.Object("observed_artifact").String("accepted_ref"), "git:")
}

// mediaType depends on the name alone and, for the same name, returns the same on every machine.
func mediaType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt", ".log":
		return "text/plain"
	case ".json":
		return "application/json"
	case ".jsonl":
		return "application/jsonl"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".html", ".htm":
		return "text/html"
	case ".css":
		return "text/css"
	case ".js", ".mjs":
		return "text/javascript"
	case ".csv":
		return "text/csv"
	case ".xml":
		return "application/xml"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".svg":
		return "image/svg+xml"
	case ".sh":
		return "application/x-sh"
	case ".patch", ".diff":
		return "text/x-diff"
	}
	return "application/octet-stream"
}

// manifest lists every artifact of the run with the digest over all of them:
// <logical_name>:<hex> lines joined by LF (docs/monarchic.md#rules).
func (x *Export) manifest(bool) ([]Object, error) {
	var all []strict.ArtifactDescriptor
	var lines []string
	for _, row := range x.facts.history {
		for _, d := range x.descriptors(row) {
			all = append(all, d)
			lines = append(lines, d.LogicalName+":"+strings.TrimPrefix(d.Digest, "sha256:"))
		}
	}
	if len(all) == 0 {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "type",
			Message: "Run " + x.Run + " has no artifacts yet; a digest manifest lists at least one.",
			Hint:    "git agentxchain status",
		}
	}
	return []Object{object("client_boundary/digest_manifest", &strict.DigestManifest{
		ContractVersion:     portable.Version,
		ManifestID:          "manifest-" + x.Run,
		RunID:               x.Run,
		PlanID:              planID(x.Run),
		CreatedAt:           x.finishedAt(),
		CombinedDigest:      monarchic.DigestBytes([]byte(strings.Join(lines, "\n"))),
		EventDigest:         x.eventDigest(""),
		ArtifactDescriptors: all,
	})}, nil
}
