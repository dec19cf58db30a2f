// The operations on dispatch bundles: sealing, tampering, verification (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"
	"maps"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// textFiles are the files of one bundle: bundle-relative path -> contents.
type textFiles map[string][]byte

// textTree reads {turn id: {file: text}}.
func textTree(v ojson.Value) (map[string]textFiles, error) {
	turns, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return nil, fmt.Errorf("must be an object, not %s", ojson.TypeName(v))
	}
	out := make(map[string]textFiles)
	for turn, v := range turns.All() {
		names, ok := v.(*ojson.Object)
		if !ok {
			return nil, fmt.Errorf("%s must be an object, not %s", show(turn), ojson.TypeName(v))
		}
		files := make(textFiles)
		for name, v := range names.All() {
			data, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("%s of %s must be text, not %s", show(name), show(turn), ojson.TypeName(v))
			}
			clean, problem := wire.CleanPath(name)
			if problem != "" {
				return nil, fmt.Errorf("%s is not a path inside the bundle (%s)", show(name), problem)
			}
			files[clean] = []byte(data)
		}
		out[turn] = files
	}
	return out, nil
}

// sealed is a bundle after it was finalized.
type sealed struct {
	id       dispatch.Identity
	files    textFiles
	manifest []byte // nil once removed
}

// seal finalizes the bundle of the turn in args.turn_id. The outcome is set when it cannot be sealed.
func (w *workspace) seal() (*sealed, outcome, error) {
	turn, err := w.textArg("turn_id")
	if err != nil {
		return nil, nil, err
	}
	if turn == "" {
		return nil, nil, fmt.Errorf("input.args.turn_id must name a turn")
	}
	s := &sealed{files: maps.Clone(w.bundles[turn]), id: dispatch.Identity{
		RunID:  w.state.Run(),
		TurnID: turn,
		Role:   "dev",
	}}
	if s.id.RunID == "" {
		s.id.RunID = "run_001"
	}
	if t, ok := w.state.ActiveTurns.Get(turn); ok {
		s.id.Role = t.AssignedRole
	}
	if _, there := w.bundles[turn]; !there {
		return nil, notSealed("Bundle directory does not exist"), nil
	}
	s.manifest, err = dispatch.Seal(s.id, wire.FormatTime(w.now), s.files)
	if err != nil {
		return nil, notSealed(err.Error()), nil
	}
	return s, nil, nil
}

func notSealed(why string) outcome {
	return ojson.NewObject("result", "error", "error_type", "finalization_failed", "error", why)
}

func (s *sealed) verify() []dispatch.ManifestError {
	return dispatch.VerifyManifest(s.id, s.manifest, s.infos())
}

func (s *sealed) infos() map[string]dispatch.FileInfo {
	infos := make(map[string]dispatch.FileInfo, len(s.files))
	for p, data := range s.files {
		infos[p] = dispatch.InfoOf(data)
	}
	return infos
}

// verifyDispatchManifest seals a bundle, changes it as the setup says, and verifies it.
func verifyDispatchManifest(w *workspace) (outcome, error) {
	s, refused, err := w.seal()
	if err != nil || refused != nil {
		return refused, err
	}
	if err := w.tamper(s); err != nil {
		return nil, err
	}
	errs := s.verify()
	rows := ojson.List(errs, dispatch.ManifestError.Object)
	if len(errs) > 0 {
		return ojson.NewObject("result", "error", "error_type", errs[0].Type, "manifest_valid", false,
			"verification_errors", rows), nil
	}
	doc, err := ojson.DecodeObject(s.manifest)
	if err != nil {
		return nil, fmt.Errorf("the verified manifest cannot be read: %w", err)
	}
	return ojson.NewObject("result", "success", "manifest_valid", true, "manifest", doc,
		"verification_errors", rows), nil
}

// tamper applies the setup's mutations in order: inject, tamper, delete files, delete the manifest, replace the
// manifest (docs/conformance.md#becoming-a-target).
func (w *workspace) tamper(s *sealed) error {
	setup := w.fixture.Setup
	for _, key := range []string{"post_finalize_inject", "post_finalize_tamper"} {
		tree, err := textTree(setup.Value(key))
		if err != nil {
			return fmt.Errorf("setup.%s: %w", key, err)
		}
		for name, data := range tree[s.id.TurnID] {
			if name == dispatch.ManifestFile {
				s.manifest = data
				continue
			}
			s.files[name] = data
		}
	}
	if err := s.remove(setup.Value("post_finalize_delete")); err != nil {
		return fmt.Errorf("setup.post_finalize_delete: %w", err)
	}
	switch v := setup.Value("post_finalize_delete_manifest").(type) {
	case nil, bool:
		if v == true {
			s.manifest = nil
		}
	case *ojson.Object:
		if v.Bool(s.id.TurnID) {
			s.manifest = nil
		}
	default:
		return fmt.Errorf("setup.post_finalize_delete_manifest: must be true or an object, not %s", ojson.TypeName(v))
	}
	return s.corrupt(setup.Value("post_finalize_corrupt_manifest"))
}

func (s *sealed) remove(v ojson.Value) error {
	turns, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return fmt.Errorf("must be an object, not %s", ojson.TypeName(v))
	}
	for turn, v := range turns.All() {
		names, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s must be an array, not %s", show(turn), ojson.TypeName(v))
		}
		for _, v := range names {
			name, ok := v.(string)
			if !ok {
				return fmt.Errorf("%s must hold file names, not %s", show(turn), ojson.TypeName(v))
			}
			switch {
			case turn != s.id.TurnID:
			case name == dispatch.ManifestFile:
				s.manifest = nil
			default:
				delete(s.files, name)
			}
		}
	}
	return nil
}

func (s *sealed) corrupt(v ojson.Value) error {
	turns, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return fmt.Errorf("setup.post_finalize_corrupt_manifest: must be an object, not %s", ojson.TypeName(v))
	}
	v, has := turns.Get(s.id.TurnID)
	if !has {
		return nil
	}
	switch v := v.(type) {
	case string:
		s.manifest = []byte(v)
	default:
		s.manifest = ojson.Pretty(v)
	}
	return nil
}

// inspectDispatchManifest seals a bundle and lists what its manifest covers.
func inspectDispatchManifest(w *workspace) (outcome, error) {
	s, refused, err := w.seal()
	if err != nil || refused != nil {
		return refused, err
	}
	if errs := s.verify(); len(errs) > 0 {
		return ojson.NewObject("result", "error", "error_type", errs[0].Type,
			"error", dispatch.JoinManifestErrors(errs)), nil
	}
	m, errs := dispatch.Inspect(s.manifest)
	if len(errs) > 0 {
		return nil, fmt.Errorf("the sealed manifest cannot be read: %s", dispatch.JoinManifestErrors(errs))
	}
	self := false
	paths := []string{}
	for _, f := range m.Files {
		paths = append(paths, f.Path)
		self = self || f.Path == dispatch.ManifestFile
	}
	return ojson.NewObject("result", "success", "manifest_contains_self", self, "file_paths", paths), nil
}
