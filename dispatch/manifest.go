// Sealing a bundle: MANIFEST.json (docs/bundles.md#the-seal).

package dispatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ManifestVersion is the version this package writes and reads.
const ManifestVersion = "1.0"

// Limits on a manifest that is read; a manifest lists only a few files.
const (
	maxManifestBytes = 4 << 20
	maxManifestFiles = 10000
)

// Identity says whose bundle a manifest seals. Empty members are not compared
// when a manifest is verified.
type Identity struct {
	RunID  string
	TurnID string
	Role   string
}

// Seal returns the MANIFEST.json of files: bundle-relative path -> contents. It skips an entry named MANIFEST.json,
// which is not part of itself. The entries are in byte order of their paths. It fails with invalid_argument for an
// empty bundle, for a path that would leave the bundle directory, and for two paths that some file system treats as
// one.
func Seal(id Identity, finalizedAt string, files map[string][]byte) ([]byte, error) {
	infos := make(map[string]FileInfo, len(files))
	for p, data := range files {
		if p != ManifestFile {
			infos[p] = InfoOf(data)
		}
	}
	return seal(id, finalizedAt, infos)
}

// seal renders the manifest of regular files.
func seal(id Identity, finalizedAt string, files map[string]FileInfo) ([]byte, error) {
	if len(files) == 0 {
		return nil, refuse(wire.CodeInvalidArgument, "Bundle directory is empty — no files to manifest")
	}
	if len(files) > maxManifestFiles {
		return nil, tooLarge("holds %d files; at most %d can be sealed", len(files), maxManifestFiles)
	}
	seen := newNames()
	rows := make([]*ojson.Object, 0, len(files))
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		if !usable(p) {
			return nil, refuse(wire.CodeInvalidArgument,
				"the bundle of turn %s holds a file with an unusable name: %q", id.TurnID, p)
		}
		if f.Kind != "" {
			return nil, refuse(wire.CodeInvalidArgument,
				"the bundle of turn %s holds %q, which is a %s; only regular files can be sealed", id.TurnID, p,
				f.Kind)
		}
		if was := seen.add(p); was != "" {
			return nil, refuse(wire.CodeInvalidArgument,
				"the bundle of turn %s holds both %q and %q, which some file systems take for one", id.TurnID, was, p)
		}
		rows = append(rows, ojson.NewObject("path", p, "sha256", f.SHA256, "size", f.Size))
	}
	out := ojson.Pretty(ojson.NewObject(
		"manifest_version", ManifestVersion,
		"run_id", id.RunID,
		"turn_id", id.TurnID,
		"role", id.Role,
		"finalized_at", finalizedAt,
		"files", rows,
	))
	if len(out) > maxManifestBytes {
		return nil, tooLarge("has a manifest of %d bytes; at most %d can be read back", len(out), maxManifestBytes)
	}
	return out, nil
}

// FileInfo describes what a bundle directory has under one path.
type FileInfo struct {
	Size   int64
	SHA256 string // 64 lowercase hex digits
	// Kind is "" for a regular file, else what is there instead (Kind… constant). Only regular files can match a
	// manifest.
	Kind string
}

// InfoOf describes a regular file with the given contents.
func InfoOf(data []byte) FileInfo {
	return FileInfo{Size: int64(len(data)), SHA256: wire.SHA256(data)}
}

// Types of ManifestError (docs/bundles.md#the-seal).
const (
	MissingManifest = "missing_manifest"
	InvalidManifest = "invalid_manifest"
	MissingFile     = "missing_file"
	UnexpectedFile  = "unexpected_file"
	SizeMismatch    = "size_mismatch"
	DigestMismatch  = "digest_mismatch"
)

// ManifestError is one finding about a bundle.
type ManifestError struct {
	Type   string
	Path   string // "" when it concerns the manifest as a whole
	Detail string // a sentence
}

func (e ManifestError) Error() string { return e.Type + ": " + e.Detail }

// JoinManifestErrors formats findings on one line.
func JoinManifestErrors(errs []ManifestError) string {
	out := make([]string, len(errs))
	for i, e := range errs {
		out[i] = e.Error()
	}
	return strings.Join(out, "; ")
}

// VerifyManifest compares a manifest with the present bundle directory. manifest is nil when the file is absent;
// files maps every path below the bundle directory (recursive, slash-separated, MANIFEST.json optional) to what is
// there. No findings means that the bundle is as it was sealed.
//
// Findings come in a fixed order (docs/bundles.md#the-seal): the manifest as a whole, then its entries in their
// order with size before digest, then undeclared files in byte order. Beyond the reference it refuses, as
// invalid_manifest, a manifest of another turn, paths that leave the bundle, two entries that some file system
// treats as one, and entries that are not regular files. It ignores unknown members.
func VerifyManifest(id Identity, manifest []byte, files map[string]FileInfo) []ManifestError {
	if manifest == nil {
		return []ManifestError{{
			Type:   MissingManifest,
			Detail: "the bundle has no " + ManifestFile + ", so nothing shows that it is complete",
		}}
	}
	entries, errs, ok := readManifest(id, manifest)
	if !ok {
		return errs
	}
	declared := make(map[string]bool, len(entries))
	seen := newNames()
	for _, e := range entries {
		if e.bad != "" {
			declared[e.path] = true // one finding per file is enough
			errs = append(errs, ManifestError{InvalidManifest, e.path, e.bad})
			continue
		}
		if declared[e.path] {
			errs = append(errs,
				ManifestError{InvalidManifest, e.path, fmt.Sprintf("the manifest lists %q more than once", e.path)})
			continue
		}
		declared[e.path] = true
		if was := seen.add(e.path); was != "" {
			errs = append(errs, ManifestError{InvalidManifest, e.path,
				fmt.Sprintf("the manifest lists both %q and %q, which some file systems take for one", was, e.path)})
			continue
		}
		got, there := files[e.path]
		switch {
		case !there:
			errs = append(errs, ManifestError{MissingFile, e.path,
				fmt.Sprintf("%q is listed in the manifest but is not in the bundle", e.path)})
			continue
		case got.Kind != "":
			// Whatever it leads to is not what was sealed.
			errs = append(errs, ManifestError{InvalidManifest, e.path,
				fmt.Sprintf("%q is a %s; only a regular file can have been sealed", e.path, got.Kind)})
			continue
		}
		if got.Size != e.size {
			errs = append(errs, ManifestError{SizeMismatch, e.path,
				fmt.Sprintf("%q has %d bytes, the manifest says %d", e.path, got.Size, e.size)})
		}
		if got.SHA256 != e.sha256 {
			errs = append(errs, ManifestError{DigestMismatch, e.path,
				fmt.Sprintf("%q has SHA-256 %s, the manifest says %s", e.path, got.SHA256, e.sha256)})
		}
	}
	var extra []string
	for p, f := range files {
		// Directories are not content; their files are listed themselves.
		if p != ManifestFile && !declared[p] && f.Kind != "directory" {
			extra = append(extra, p)
		}
	}
	slices.Sort(extra)
	for _, p := range extra {
		errs = append(errs,
			ManifestError{UnexpectedFile, p, fmt.Sprintf("%q is in the bundle but not in the manifest", p)})
	}
	return errs
}

// entry is one row of files[]; bad says what is wrong with it.
type entry struct {
	path, sha256 string
	size         int64
	bad          string
}

// readManifest decodes a manifest. When it cannot be compared with anything, ok is false and errs says why;
// identity mismatches are findings besides the comparison.
func readManifest(id Identity, data []byte) (entries []entry, errs []ManifestError, ok bool) {
	invalid := func(format string, args ...any) []ManifestError {
		return []ManifestError{{Type: InvalidManifest, Detail: fmt.Sprintf(format, args...)}}
	}
	val, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: maxManifestBytes, Depth: 16})
	if err != nil {
		return nil, invalid("%s cannot be read: %s", ManifestFile, err), false
	}
	o, isObject := val.(*ojson.Object)
	if !isObject {
		return nil, invalid("%s must hold an object, not %s", ManifestFile, ojson.TypeName(val)), false
	}
	files, isArray := o.Value("files").([]any)
	version := o.String("manifest_version")
	switch {
	case version == "":
		return nil, invalid("%s names no manifest_version", ManifestFile), false
	case version != ManifestVersion:
		return nil, invalid("%s has manifest_version %q; this program knows %s", ManifestFile, version,
			ManifestVersion), false
	case !isArray:
		return nil, invalid("%s has no list of files", ManifestFile), false
	case len(files) > maxManifestFiles:
		return nil, invalid("%s lists %d files; at most %d are accepted", ManifestFile, len(files),
			maxManifestFiles), false
	}
	for _, m := range [][2]string{{"run_id", id.RunID}, {"turn_id", id.TurnID}, {"role", id.Role}} {
		if got := o.String(m[0]); m[1] != "" && got != m[1] {
			errs = append(errs, invalid("the manifest is for %s %q, the turn has %q", m[0], got, m[1])...)
		}
	}
	for i, f := range files {
		entries = append(entries, readEntry(i, f))
	}
	return entries, errs, true
}

func readEntry(i int, val ojson.Value) entry {
	o, ok := val.(*ojson.Object)
	if !ok {
		return entry{bad: fmt.Sprintf("files[%d] must be an object, not %s", i, ojson.TypeName(val))}
	}
	e := entry{path: o.String("path"), sha256: o.String("sha256")}
	size, hasSize := o.Value("size").(ojson.Number)
	n, whole := size.Int64()
	e.size = n
	switch {
	case e.path == "":
		e.bad = fmt.Sprintf("files[%d] names no path", i)
	case !safePath(e.path):
		e.bad = fmt.Sprintf("files[%d] has a path outside the bundle: %q", i, e.path)
	case e.path == ManifestFile:
		e.bad = fmt.Sprintf("files[%d] lists the manifest itself", i)
	case !isDigest(e.sha256):
		e.bad = fmt.Sprintf("files[%d] (%q) has no SHA-256 of 64 lowercase hex digits", i, e.path)
	case !hasSize || !whole || n < 0:
		e.bad = fmt.Sprintf("files[%d] (%q) has no size in whole bytes", i, e.path)
	}
	return e
}

func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
