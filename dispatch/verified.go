// A bundle as its adapter receives it: the bytes that were verified (docs/bundles.md#the-seal).

package dispatch

import (
	"errors"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Verified is a bundle in memory that is as it was sealed. Later changes to the directory do not affect it.
type Verified struct {
	manifest *Manifest
	seal     []byte
	files    map[string][]byte
}

// OpenVerified reads the bundle directory dir below root once, verifies what it read, and returns exactly those
// bytes: they cannot be replaced between the verification and the use.
//
// Errors are *wire.Error: bundle_invalid when it is not as it was sealed for id, with the findings under
// details.problems ({type, path, detail} each) and the text that adapters report (docs/bundles.md#the-seal) as
// message; bundle_too_large for a bundle beyond DefaultLimits; bundle_unreadable.
func OpenVerified(root *os.Root, dir string, id Identity) (*Verified, error) {
	lim := defaultLimits()
	d, err := bundleDir(root, dir)
	if err != nil {
		var coded *wire.Error
		if errors.As(err, &coded) && coded.Code == CodeBundleMissing {
			return nil, Refusal(dir, VerifyManifest(id, nil, nil)...)
		}
		return nil, err
	}
	defer func() { _ = d.Close() }()
	list, err := walk(d, lim)
	if err != nil {
		return nil, err
	}
	manifest, bad := readSeal(d, list)
	if bad != nil {
		return nil, Refusal(dir, *bad)
	}
	// Files outside the seal are not read: an actor's log beside the bundle may be of any size.
	declared := declares(manifest)
	infos := make(map[string]FileInfo)
	var want []found
	for _, f := range list {
		switch {
		case f.path == ManifestFile:
		case declared[f.path] && f.kind == "":
			want = append(want, f)
		case f.kind != KindDirectory || declared[f.path]:
			infos[f.path] = FileInfo{Kind: f.kind, Size: f.info.Size()}
		}
	}
	c, err := collect(d, want, lim)
	if err != nil {
		return nil, err
	}
	for _, o := range c.Odd {
		infos[o.Path] = FileInfo{Kind: o.Kind}
	}
	for name, data := range c.Files {
		infos[name] = InfoOf(data)
	}
	if errs := tolerate(VerifyManifest(id, manifest, infos), infos); len(errs) > 0 {
		return nil, Refusal(dir, errs...)
	}
	m, errs := Inspect(manifest)
	if len(errs) > 0 {
		return nil, Refusal(dir, errs...)
	}
	return &Verified{manifest: m, seal: manifest, files: c.Files}, nil
}

// Refusal returns the error about a bundle that is not as it was sealed, with code bundle_invalid.
func Refusal(dir string, errs ...ManifestError) *wire.Error {
	rows := ojson.List(errs, ManifestError.Object)
	return &wire.Error{
		Code:    CodeBundleInvalid,
		Field:   dir,
		Message: "Dispatch manifest verification failed: " + JoinManifestErrors(errs),
		Details: ojson.NewObject("problems", rows),
	}
}

// Object returns the finding as data: type, path when it concerns one file, detail.
func (e ManifestError) Object() *ojson.Object {
	o := ojson.NewObject("type", e.Type)
	if e.Path != "" {
		o.Set("path", e.Path)
	}
	o.Set("detail", e.Detail)
	return o
}

// Seal returns the bytes of MANIFEST.json.
func (v *Verified) Seal() []byte { return slices.Clone(v.seal) }

// File returns a copy of a sealed file; false when the seal does not list it.
func (v *Verified) File(name string) ([]byte, bool) {
	data, ok := v.files[name]
	return slices.Clone(data), ok
}
