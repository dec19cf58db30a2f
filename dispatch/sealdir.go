// Sealing and verifying a bundle on disk, without reading it into memory (docs/bundles.md#the-seal).

package dispatch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Finalized is the outcome of sealing a directory.
type Finalized struct {
	Path     string // of the manifest, below root
	Files    int    // number of sealed files
	Manifest []byte
}

// Finalize seals the bundle directory dir below root: it writes MANIFEST.json over every regular file present,
// recursively, replacing an older seal. Files are read as a stream, several at once, so memory does not grow with
// them. Audit files of the reference (AuditFiles) are sealed like any other.
//
// Errors are *wire.Error: bundle_missing, bundle_unreadable (also for a link, a pipe or a device, which cannot be
// sealed), bundle_too_large, invalid_argument for an empty bundle or unusable names. On error nothing is written.
func Finalize(root *os.Root, dir string, id Identity, finalizedAt string) (Finalized, error) {
	lim := sealLimits()
	d, err := bundleDir(root, dir)
	if err != nil {
		return Finalized{}, err
	}
	defer func() { _ = d.Close() }()
	list, err := walk(d, lim)
	if err != nil {
		return Finalized{}, err
	}
	list = slices.DeleteFunc(list, func(f found) bool { return f.path == ManifestFile || f.kind == KindDirectory })
	for _, f := range list {
		if f.kind != "" {
			return Finalized{}, unreadable(f.path, errors.New("it is a "+f.kind+"; only regular files can be sealed"))
		}
	}
	if err := total(list, lim); err != nil {
		return Finalized{}, err
	}
	infos, errs := digests(d, list, lim)
	files := make(map[string]FileInfo, len(list))
	for i, f := range list {
		if errs[i] != nil {
			errs[i] = unreadable(f.path, errs[i])
		}
		files[f.path] = infos[i]
	}
	if err := failures.All(errs...); err != nil {
		return Finalized{}, err
	}
	m, err := seal(id, finalizedAt, files)
	if err != nil {
		return Finalized{}, err
	}
	if err := durable.WriteFileRoot(d, ManifestFile, m, 0o666); err != nil {
		return Finalized{}, &wire.Error{
			Code:    CodeBundleUnreadable,
			Field:   ManifestFile,
			Message: "The seal of " + dir + " cannot be written: " + err.Error() + ".",
		}
	}
	return Finalized{Path: dir + "/" + ManifestFile, Files: len(files), Manifest: m}, nil
}

// Report is the outcome of verifying a directory.
type Report struct {
	Manifest []byte // as read; nil when it is missing or unreadable
	// Files are the entries below the directory, by path, without directories. Digests are given for files that the
	// manifest declares, or for all files when no manifest exists to compare with.
	Files    map[string]FileInfo
	Problems []ManifestError // none: the bundle is as it was sealed
}

// OK reports whether the bundle is as it was sealed.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// Verify compares the bundle directory dir below root with its seal and with its expected identity, as
// VerifyManifest does. The audit files that the reference adds after sealing (AuditFiles) are not findings. An
// unreadable file is a finding, not an error; an absent directory has no manifest.
//
// An error is a *wire.Error of code bundle_unreadable or bundle_too_large: the directory itself cannot be searched.
func Verify(root *os.Root, dir string, id Identity) (*Report, error) {
	return verifyDir(root, dir, id, nil)
}

// VerifyRecorded is like Verify, with a seal that is kept elsewhere: a changed file is found even if a new seal was
// written for it. The last finding is that the seal in the directory differs or is gone.
func VerifyRecorded(root *os.Root, dir string, id Identity, recorded []byte) (*Report, error) {
	return verifyDir(root, dir, id, recorded)
}

func verifyDir(root *os.Root, dir string, id Identity, recorded []byte) (*Report, error) {
	lim := sealLimits()
	r := &Report{Files: make(map[string]FileInfo)}
	d, err := bundleDir(root, dir)
	if err != nil {
		var coded *wire.Error
		if errors.As(err, &coded) && coded.Code == CodeBundleMissing {
			r.Problems = VerifyManifest(id, recorded, nil)
			if recorded != nil {
				r.Problems = append(r.Problems, noSeal())
			}
			return r, nil
		}
		return nil, err
	}
	defer func() { _ = d.Close() }()
	list, err := walk(d, lim)
	if err != nil {
		return nil, err
	}
	manifest, bad := readSeal(d, list)
	r.Manifest = manifest
	judge := manifest
	if recorded != nil {
		judge, bad = recorded, nil
	}
	declared := declares(judge)
	var work []found
	for _, f := range list {
		switch {
		case f.kind == KindDirectory:
			if declared[f.path] {
				r.Files[f.path] = FileInfo{Kind: f.kind}
			}
		case f.kind != "":
			r.Files[f.path] = FileInfo{Kind: f.kind}
		default:
			r.Files[f.path] = FileInfo{Size: f.info.Size()}
			// No seal covers an undeclared file, whatever its digest.
			if judge == nil || declared[f.path] || f.path == ManifestFile {
				work = append(work, f)
			}
		}
	}
	if err := total(work, lim); err != nil {
		return nil, err
	}
	infos, errs := digests(d, work, lim)
	for i, f := range work {
		switch {
		case errs[i] == nil:
			r.Files[f.path] = infos[i]
		case errors.Is(errs[i], fs.ErrNotExist):
			delete(r.Files, f.path)
		case errors.Is(errs[i], errReplaced):
			r.Files[f.path] = FileInfo{Kind: KindOther}
		default:
			r.Files[f.path] = FileInfo{Kind: KindUnread}
		}
	}
	if bad != nil {
		r.Problems = []ManifestError{*bad}
		return r, nil
	}
	if recorded != nil {
		r.Problems = VerifyRecordedFiles(id, recorded, manifest, r.Files)
	} else {
		r.Problems = tolerate(VerifyManifest(id, manifest, r.Files), r.Files)
	}
	return r, nil
}

// VerifyRecordedFiles is like VerifyRecorded, for files that are already described; manifest is the seal among
// them, nil for none.
func VerifyRecordedFiles(id Identity, recorded, manifest []byte, files map[string]FileInfo) []ManifestError {
	out := tolerate(VerifyManifest(id, recorded, files), files)
	switch {
	case bytes.Equal(recorded, manifest):
	case manifest == nil:
		out = append(out, noSeal())
	default:
		out = append(out, OtherSeal())
	}
	return out
}

// OtherSeal returns the finding that the seal in a bundle is not the recorded one.
func OtherSeal() ManifestError {
	return ManifestError{DigestMismatch, ManifestFile, ManifestFile + " is not the seal that the run has recorded"}
}

func noSeal() ManifestError {
	return ManifestError{MissingManifest, ManifestFile,
		ManifestFile + ", which the run has recorded, is not in the bundle"}
}

// readSeal reads the manifest among list; bad says why it cannot be one.
func readSeal(d *os.Root, list []found) (manifest []byte, bad *ManifestError) {
	i := slices.IndexFunc(list, func(f found) bool { return f.path == ManifestFile })
	if i < 0 {
		return nil, nil
	}
	if k := list[i].kind; k != "" {
		return nil, &ManifestError{InvalidManifest, ManifestFile, ManifestFile + " is a " + k + ", not a regular file"}
	}
	data, err := list[i].read(d, maxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &ManifestError{InvalidManifest, ManifestFile, ManifestFile + " cannot be read: " + err.Error()}
	}
	return data, nil
}

// declares lists the paths a manifest names.
func declares(manifest []byte) map[string]bool {
	out := make(map[string]bool)
	if manifest == nil {
		return out
	}
	entries, _, ok := readManifest(Identity{}, manifest)
	if ok {
		for _, e := range entries {
			out[e.path] = true
		}
	}
	return out
}

// Manifest is a readable seal.
type Manifest struct {
	Identity
	FinalizedAt string
	Files       []ManifestFileEntry // in the manifest's order
	Raw         *ojson.Object
}

// ManifestFileEntry is one sealed file.
type ManifestFileEntry struct {
	Path   string
	SHA256 string // 64 lowercase hex digits
	Size   int64  // bytes
}

// Inspect reads a manifest without comparing it. Its errors are findings of type missing_manifest (data is nil) and
// invalid_manifest.
func Inspect(data []byte) (*Manifest, []ManifestError) {
	if data == nil {
		return nil, VerifyManifest(Identity{}, nil, nil)
	}
	entries, errs, ok := readManifest(Identity{}, data)
	if !ok {
		return nil, errs
	}
	raw, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, []ManifestError{{Type: InvalidManifest, Detail: ManifestFile + " cannot be read: " + err.Error()}}
	}
	m := &Manifest{
		Identity:    Identity{raw.String("run_id"), raw.String("turn_id"), raw.String("role")},
		FinalizedAt: raw.String("finalized_at"),
		Raw:         raw,
	}
	for _, e := range entries {
		if e.bad != "" {
			errs = append(errs, ManifestError{InvalidManifest, e.path, e.bad})
			continue
		}
		m.Files = append(m.Files, ManifestFileEntry{e.path, e.sha256, e.size})
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return m, nil
}

// total refuses to read more than the limits allow.
func total(list []found, lim Limits) error {
	var sum int64
	for _, f := range list {
		if f.info.Size() > lim.FileBytes {
			return tooLarge("has a file of %d bytes, %s; at most %d are read", f.info.Size(), f.path, lim.FileBytes)
		}
		if sum += f.info.Size(); sum > lim.Bytes {
			return tooLarge("has more than %d bytes", lim.Bytes)
		}
	}
	return nil
}

// hashBuffer is what one worker reads at a time; maxWorkers bounds their number, so that hashing takes a few
// megabytes whatever the size of the bundle.
const (
	hashBuffer = 256 << 10
	maxWorkers = 16
)

// digests describes files, several at once. The results are in the order of list.
func digests(d *os.Root, list []found, lim Limits) ([]FileInfo, []error) {
	infos, errs := make([]FileInfo, len(list)), make([]error, len(list))
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, len(list))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf := make([]byte, hashBuffer)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				infos[i], errs[i] = list[i].digest(d, buf, lim.FileBytes)
			}
		})
	}
	wg.Wait()
	return infos, errs
}

// digest reads a file once; it gives up on one that keeps growing.
func (f found) digest(d *os.Root, buf []byte, limit int64) (FileInfo, error) {
	file, err := f.open(d)
	if err != nil {
		return FileInfo{}, err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	var size int64
	for {
		n, err := file.Read(buf)
		_, _ = h.Write(buf[:n])
		if size += int64(n); size > limit {
			return FileInfo{}, errReplaced
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return FileInfo{}, err
		}
	}
	return FileInfo{Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
