// Bundles as directories: sealing, verifying, collecting, passing on.

package dispatch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const testBundle = ".agentxchain/dispatch/turns/turn_abc"

// bundleAt makes a project with one bundle directory and opens it.
func bundleAt(t testing.TB, files map[string]string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	for name, text := range files {
		put(t, filepath.Join(dir, testBundle), name, text)
	}
	return root, filepath.Join(dir, testBundle)
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Code
	}
	return ""
}

func sealedBundle(t testing.TB, files map[string]string) (*os.Root, string) {
	t.Helper()
	root, dir := bundleAt(t, files)
	f, err := Finalize(root, testBundle, sealID, "2026-01-02T03:04:05.678Z")
	if err != nil || f.Files != len(files) || f.Path != testBundle+"/MANIFEST.json" {
		t.Fatalf("%+v, %v", f, err)
	}
	return root, dir
}

func verifyKinds(t testing.TB, root *os.Root) []string {
	t.Helper()
	r, err := Verify(root, testBundle, sealID)
	if err != nil {
		t.Fatal(err)
	}
	if r.OK() != (len(r.Problems) == 0) {
		t.Fatal("OK disagrees with the problems")
	}
	return kinds(r.Problems)
}

func threeFiles() map[string]string {
	return map[string]string{
		"ASSIGNMENT.json":     "{}",
		"PROMPT.md":           "# Task",
		"CONTEXT.md":          "ctx",
		"hook/deep/notes.txt": strings.Repeat("x", 600<<10),
		".hidden":             "",
	}
}

func TestFinalizeAndVerify(t *testing.T) {
	root, dir := sealedBundle(t, threeFiles())
	if got := verifyKinds(t, root); got != nil {
		t.Fatal(got)
	}
	byDir, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	contents := make(map[string][]byte)
	for name, text := range threeFiles() {
		contents[name] = []byte(text)
	}
	inMemory, err := Seal(sealID, "2026-01-02T03:04:05.678Z", contents)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(inMemory), string(byDir)); d != "" {
		t.Error("a directory and its contents are sealed differently: " + d)
	}
	m, errs := Inspect(byDir)
	if errs != nil || m.Identity != sealID || m.FinalizedAt != "2026-01-02T03:04:05.678Z" || len(m.Files) != 5 ||
		m.Files[0].Path != ".hidden" {
		t.Errorf("%+v %v", m, errs)
	}
	// An older seal is replaced, not sealed.
	put(t, dir, "later.md", "x")
	if f, err := Finalize(root, testBundle, sealID, "t"); err != nil || f.Files != 6 || verifyKinds(t, root) != nil {
		t.Errorf("%+v %v", f, err)
	}
	// The reference's files beside the seal are not findings; anywhere else they are.
	put(t, dir, "stdout.log", "log")
	put(t, dir, "TOKEN_BUDGET.json", "{}")
	if got := verifyKinds(t, root); got != nil {
		t.Error(got)
	}
	put(t, dir, "hook/stdout.log", "log")
	if got := verifyKinds(t, root); !slices.Equal(got, []string{"unexpected_file hook/stdout.log"}) {
		t.Error(got)
	}
}

func TestFinalizeRefuses(t *testing.T) {
	root, dir := bundleAt(t, map[string]string{"MANIFEST.json": "old"})
	if _, err := Finalize(root, testBundle, sealID, "t"); err == nil ||
		err.Error() != "Bundle directory is empty — no files to manifest" {
		t.Error(err)
	}
	if _, err := Finalize(root, testBundle+"x", sealID, "t"); codeOf(err) != CodeBundleMissing ||
		err.Error() != "Bundle directory does not exist" {
		t.Error(err)
	}
	put(t, dir, "a", "")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	if _, err := Finalize(root, testBundle, sealID, "t"); codeOf(err) != CodeBundleUnreadable {
		t.Error(err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, ManifestFile)); string(data) != "old" {
		t.Error("a refused seal was written")
	}
	// The directory itself must not be a link either.
	if err := os.Symlink(dir, dir+"l"); err != nil {
		t.Fatal(err)
	}
	if _, err := Finalize(root, testBundle+"l", sealID, "t"); codeOf(err) != CodeBundleUnreadable {
		t.Error(err)
	}
	if err := os.Symlink(filepath.Dir(dir), dir+"p"); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(root, testBundle+"p/turn_abc", sealID); codeOf(err) != CodeBundleUnreadable {
		t.Error(err)
	}
}

func TestVerifyDirectory(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(t *testing.T, dir string) error
		want []string
	}{
		"removed": {func(_ *testing.T, dir string) error { return os.RemoveAll(dir) }, []string{"missing_manifest"}},
		"unsealed": {func(_ *testing.T, dir string) error {
			return os.Remove(dir + "/MANIFEST.json")
		}, []string{"missing_manifest"}},
		"changed": {func(t *testing.T, dir string) error {
			put(t, dir, "PROMPT.md", "# tasK")
			return nil
		}, []string{"digest_mismatch PROMPT.md"}},
		"longer": {func(t *testing.T, dir string) error {
			put(t, dir, "PROMPT.md", "# Task!")
			return nil
		}, []string{"size_mismatch PROMPT.md", "digest_mismatch PROMPT.md"}},
		"nested": {func(t *testing.T, dir string) error {
			put(t, dir, "hook/deep/more", "")
			return nil
		}, []string{"unexpected_file hook/deep/more"}},
		"empty dir": {func(_ *testing.T, dir string) error { return os.Mkdir(dir+"/void", 0o777) }, nil},
		"manifest is a directory": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Remove(dir+"/MANIFEST.json"), os.Mkdir(dir+"/MANIFEST.json", 0o777))
		}, []string{"invalid_manifest MANIFEST.json"}},
		"manifest is huge": {func(_ *testing.T, dir string) error {
			return os.Truncate(dir+"/MANIFEST.json", maxManifestBytes+1)
		}, []string{"invalid_manifest MANIFEST.json"}},
		"directory instead": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Remove(dir+"/PROMPT.md"), os.Mkdir(dir+"/PROMPT.md", 0o777))
		}, []string{"invalid_manifest PROMPT.md"}},
		"link instead": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Rename(dir+"/PROMPT.md", dir+"/../elsewhere"),
				os.Symlink("../elsewhere", dir+"/PROMPT.md"))
		}, []string{"invalid_manifest PROMPT.md"}},
		"linked directory": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Rename(dir+"/hook", dir+"/../hook"), os.Symlink("../hook", dir+"/hook"))
		}, []string{"missing_file hook/deep/notes.txt", "unexpected_file hook"}},
		"dangling link": {func(_ *testing.T, dir string) error {
			return os.Symlink("nowhere", dir+"/l")
		}, []string{"unexpected_file l"}},
		"audit link": {func(_ *testing.T, dir string) error {
			return os.Symlink("PROMPT.md", dir+"/stdout.log")
		}, []string{"unexpected_file stdout.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("symbolic links need a privilege here")
			}
			root, dir := sealedBundle(t, threeFiles())
			if err := tc.do(t, dir); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, verifyKinds(t, root)); d != "" {
				t.Error(d)
			}
			v, err := OpenVerified(root, testBundle, sealID)
			if tc.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if codeOf(err) != CodeBundleInvalid || v != nil || !strings.HasPrefix(err.Error(),
				"Dispatch manifest verification failed: "+strings.Fields(tc.want[0])[0]) {
				t.Errorf("handed out: %v", err)
			}
		})
	}
}

func TestOpenVerified(t *testing.T) {
	root, dir := sealedBundle(t, threeFiles())
	put(t, dir, "stdout.log", "log")
	v, err := OpenVerified(root, testBundle, sealID)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range threeFiles() {
		if data, ok := v.File(name); !ok || string(data) != text {
			t.Errorf("%s: %.40q %v", name, data, ok)
		}
	}
	if _, ok := v.File("stdout.log"); ok {
		t.Error("an unsealed file is handed out")
	}
	if seal, err := os.ReadFile(filepath.Join(dir, ManifestFile)); err != nil || string(seal) != string(v.Seal()) ||
		v.manifest.TurnID != sealID.TurnID {
		t.Error("not the seal")
	}
	if _, err := OpenVerified(root, testBundle, Identity{"run_002", "turn_abc",
		"dev"}); codeOf(err) != CodeBundleInvalid {
		t.Error(err)
	}
}

// Swapping files while a bundle is opened has no effect or gets the bundle refused; the returned bytes are always
// the sealed ones.
func TestSwapsNeverReachTheAdapter(t *testing.T) {
	files := threeFiles()
	root, dir := sealedBundle(t, files)
	put(t, dir+"/..", "evil", "# Evil")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		good := filepath.Join(dir, "PROMPT.md")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			switch i % 4 {
			case 0:
				_ = os.WriteFile(good, []byte("# Evil"), 0o666)
			case 1:
				_ = os.WriteFile(good+".tmp", []byte("# Task"), 0o666)
				_ = os.Rename(good+".tmp", good)
			case 2:
				_ = os.Remove(good)
				_ = os.Symlink("../evil", good)
			case 3:
				_ = os.Remove(good)
				_ = os.WriteFile(good, []byte("# Task"), 0o666)
			}
		}
	})
	for range 300 {
		v, err := OpenVerified(root, testBundle, sealID)
		if err != nil {
			if c := codeOf(err); c != CodeBundleInvalid && c != CodeBundleUnreadable {
				t.Errorf("code %q: %v", c, err)
			}
			continue
		}
		if data, _ := v.File("PROMPT.md"); string(data) != "# Task" {
			t.Fatalf("handed out %q", data)
		}
	}
	close(stop)
	wg.Wait()
}

func TestCollect(t *testing.T) {
	root, dir := sealedBundle(t, threeFiles())
	put(t, dir, "unsealed.md", "planted")
	put(t, dir, "COORDINATOR_CONTEXT.json", "{}")
	put(t, dir, "stdout.log", "log")
	c, err := Collect(root, testBundle, Limits{})
	if err != nil || len(c.Files) != 9 || c.Odd != nil {
		t.Fatalf("%d files, %v, %v", len(c.Files), c.Odd, err)
	}
	if d := cmp.Diff([]string{".hidden", "COORDINATOR_CONTEXT.json",
		"hook/deep/notes.txt"}, slices.Sorted(maps.Keys(c.Supplements()))); d != "" {
		t.Error(d)
	}
	put(t, dir, "hook/deep/notes.txt", "changed since")
	if c, err = Collect(root, testBundle, Limits{}); err != nil || c.Supplements()["hook/deep/notes.txt"] != nil {
		t.Error("a file that is not as it was sealed survives")
	}
	for name, lim := range map[string]Limits{
		"files":    {Files: 3},
		"depth":    {Depth: 1},
		"one file": {FileBytes: 4},
		"all":      {Bytes: 12},
	} {
		if _, err := Collect(root, testBundle, lim); codeOf(err) != CodeBundleTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Collect(root, "nowhere", Limits{}); codeOf(err) != CodeBundleMissing {
		t.Error(err)
	}
	if _, err := Collect(root, testBundle+"/PROMPT.md", Limits{}); codeOf(err) != CodeBundleUnreadable {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := errors.Join(os.Symlink("/etc/passwd", dir+"/l"), os.WriteFile(dir+"/bad\xff", nil, 0o666),
		os.WriteFile(dir+"/a\\b", nil, 0o666)); err != nil {
		t.Skip(err)
	}
	c, err = Collect(root, testBundle, Limits{})
	if want := []OddFile{{"a\\b", KindName}, {"bad\xff", KindName}, {"l", KindSymlink}}; err != nil ||
		!slices.Equal(c.Odd, want) {
		t.Errorf("%q %v", c.Odd, err)
	}
	if c.Files["l"] != nil {
		t.Error("a link was followed")
	}
}

func TestBundleDirNames(t *testing.T) {
	for _, id := range []string{"", "..", ".", "a/b", `a\b`, "../x", "-x", "a\x00", "é", strings.Repeat("a", 129)} {
		if BundleDir(id) != "" || AuditDir(id) != "" {
			t.Errorf("%q names a directory", id)
		}
	}
	if got := fmt.Sprint(BundleDir("turn_1"), " ",
		AuditDir("turn_1")); got != ".agentxchain/dispatch/turns/turn_1 .agentxchain/dispatch/audit/turn_1" {
		t.Error(got)
	}
}
