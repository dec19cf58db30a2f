// The packages for Linux, made by the packager that goreleaser calls, as .goreleaser.yaml says: the deb is installed
// and removed, the others are opened and compared with it.

package packaging_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// releaseConfig is what these tests read from .goreleaser.yaml.
type releaseConfig struct {
	ProjectName string `yaml:"project_name"`
	Builds      []struct {
		Main         string
		Env          []string
		Tags         []string
		Flags        []string
		Ldflags      []string
		Goos, Goarch []string
	}
	Archives []archive
	Packages []nfpm `yaml:"nfpms"`
}

// archive is a kind of archives of a release.
type archive struct {
	ID           string `yaml:"id"`
	NameTemplate string `yaml:"name_template"`
	Formats      []string
}

// nfpm is the part of the configuration that describes packages. A member that is missing here makes the tests fail,
// so that nothing is left out of what they package.
type nfpm struct {
	ID           string           `yaml:"id"`
	Name         string           `yaml:"package_name"`
	Vendor       string           `yaml:"vendor"`
	Homepage     string           `yaml:"homepage"`
	Maintainer   string           `yaml:"maintainer"`
	Description  string           `yaml:"description"`
	License      string           `yaml:"license"`
	Section      string           `yaml:"section"`
	Formats      []string         `yaml:"formats"`
	Dependencies []string         `yaml:"dependencies"`
	Bindir       string           `yaml:"bindir"`
	Mtime        string           `yaml:"mtime"`
	Contents     []map[string]any `yaml:"contents"`
}

func goreleaser(t *testing.T) releaseConfig {
	t.Helper()
	data, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Packages yaml.Node `yaml:"nfpms"`
	}
	var c releaseConfig
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	strict, err := yaml.Marshal(&all.Packages)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(strict))
	d.KnownFields(true)
	if err := d.Decode(&c.Packages); err != nil {
		t.Fatalf("nfpms of .goreleaser.yaml: %v", err)
	}
	return c
}

// prepare makes what a release ships beside the program in root/dist-extra. It returns a job that can run the
// go command, the top of the source and the program.
func prepare(t *testing.T, root string) (j *job, source, file string) {
	t.Helper()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	j = &job{t: t, env: map[string]string{
		"PATH":    os.Getenv("PATH"),
		"HOME":    os.Getenv("HOME"), // for the go command
		"GOFLAGS": os.Getenv("GOFLAGS"),
		"TMPDIR":  root,
	}}
	file = program(t)
	j.must(source, "packaging/prepare.sh '"+filepath.Join(root, "dist-extra")+"' '"+file+"'")
	return j, source, file
}

// packages makes the packages of a release 0.1.0 of this machine's program and returns the file of each format.
func packages(t *testing.T, root string) map[string]string {
	t.Helper()
	j, source, program := prepare(t, root)
	if err := os.Symlink(filepath.Join(source, "LICENSE"), filepath.Join(root, "LICENSE")); err != nil {
		t.Fatal(err)
	}

	c := goreleaser(t).Packages[0]
	contents := append(slices.Clone(c.Contents), map[string]any{
		"src": program, "dst": path.Join(c.Bindir, c.Name), "file_info": map[string]any{"mode": 0o755},
	})
	data, err := yaml.Marshal(map[string]any{
		"name":        c.Name,
		"arch":        runtime.GOARCH,
		"platform":    "linux",
		"version":     "0.1.0",
		"vendor":      c.Vendor,
		"homepage":    c.Homepage,
		"maintainer":  c.Maintainer,
		"description": c.Description,
		"license":     c.License,
		"section":     c.Section,
		"depends":     c.Dependencies,
		"mtime":       "2026-01-02T03:04:05Z",
		"contents":    contents,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "nfpm.yaml"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	j.must(source, "go build -modfile=tools/packages.mod -o '"+filepath.Join(root, "nfpm")+
		"' github.com/goreleaser/nfpm/v2/cmd/nfpm")
	files := make(map[string]string)
	for _, format := range c.Formats {
		files[format] = filepath.Join(root, c.Name+"."+format)
		j.must(root, "./nfpm package --config nfpm.yaml --packager "+format+" --target '"+files[format]+"'")
	}
	return files
}

// tree lists the files below root, except the database of dpkg; directories end in a slash.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		switch {
		case err != nil || name == ".":
			return err
		case name == "var/lib/dpkg":
			return fs.SkipDir
		case d.IsDir():
			name += "/"
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// dpkgRoot makes the root of a system on which only the named packages are installed.
func dpkgRoot(t *testing.T, installed ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	status := ""
	for _, name := range installed {
		status += "Package: " + name + "\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n" +
			"Maintainer: Ada <ada@example.org>\nDescription: " + name + "\n\n"
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/info", name+".list"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), []byte(status), 0o666); err != nil {
		t.Fatal(err)
	}
	return root
}

// dpkg runs dpkg on the system below root. It also installs what a container's configuration leaves out of packages.
func dpkg(t *testing.T, root string, arg ...string) (string, error) {
	t.Helper()
	arg = append([]string{"--root=" + root, "--force-not-root", "--path-include=/usr/share/*"}, arg...)
	cmd := exec.CommandContext(t.Context(), "dpkg", arg...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestLinuxPackages installs the deb like dpkg on a system with git, uses its contents, and removes it; the other
// packages have the same files, except for the two places that Debian names differently.
func TestLinuxPackages(t *testing.T) {
	testrepo.Thorough(t)
	needs(t, "bash", "dpkg", "bsdtar", "gzip")
	if runtime.GOOS != "linux" {
		t.Skip("these are Linux packages")
	}
	files := packages(t, t.TempDir())
	if out, err := dpkg(t, dpkgRoot(t), "--install", files["deb"]); err == nil ||
		!strings.Contains(out, "depends on git") {
		t.Errorf("without git: expected a refusal that names git, got %v\n%s", err, out)
	}

	root := dpkgRoot(t, "git")
	before := tree(t, root)
	if out, err := dpkg(t, root, "--install", files["deb"]); err != nil {
		t.Fatalf("dpkg --install: %v\n%s", err, out)
	}
	installed := tree(t, root)
	useInstalled(t, root)
	if out, err := dpkg(t, root, "--remove", "git-agentxchain"); err != nil {
		t.Fatalf("dpkg --remove: %v\n%s", err, out)
	}
	if after := tree(t, root); !slices.Equal(after, before) {
		t.Errorf("left after removal: %q", after)
	}
	if out, err := dpkg(t, root, "--status", "git-agentxchain"); err == nil {
		t.Errorf("dpkg still knows the package:\n%s", out)
	}

	want := elsewhere(installed)
	for _, format := range goreleaser(t).Packages[0].Formats {
		if format == "deb" {
			continue
		}
		if got := members(t, files[format]); !slices.Equal(got, want) {
			t.Errorf("%s: expected\n%s\ngot\n%s", format, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
}

// useInstalled runs the program installed below root, and reads its manual and its completion from there.
func useInstalled(t *testing.T, root string) {
	t.Helper()
	j := &job{t: t, env: map[string]string{
		"PATH":    filepath.Join(root, "usr/bin") + ":" + os.Getenv("PATH"),
		"HOME":    t.TempDir(),
		"MANPATH": filepath.Join(root, "usr/share/man"),
		"LC_ALL":  "C",
	}}
	if got := j.must(root, "git agentxchain version"); !strings.HasPrefix(got, "git-agentxchain ") {
		t.Errorf("version: %q", got)
	}
	for file, start := range map[string]string{
		"usr/share/bash-completion/completions/git-agentxchain":    "",
		"usr/share/zsh/vendor-completions/_git-agentxchain":        "#compdef git-agentxchain",
		"usr/share/fish/vendor_completions.d/git-agentxchain.fish": "",
		"usr/share/doc/git-agentxchain/copyright":                  "",
		"usr/share/doc/git-agentxchain/NOTICE":                     "git-agentxchain contains",
	} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || len(data) == 0 || !strings.HasPrefix(string(data), start) {
			t.Errorf("%s begins with %.40q (%v)", file, data, err)
		}
	}
	// git's own completion loads it by this name and calls this function.
	j.must(root, ". usr/share/bash-completion/completions/git-agentxchain && declare -F _git_agentxchain")
	if _, err := exec.LookPath("man"); err != nil {
		t.Log("no man here: the pages are unpacked instead")
		j.must(root, "gzip -cd usr/share/man/man1/git-agentxchain.1.gz | grep -q '^.TH'")
		return
	}
	for _, page := range []string{"git-agentxchain", "git-agentxchain-accept"} {
		if got := j.must(root, "man "+page+" | col -b"); !strings.Contains(got, page) ||
			!strings.Contains(got, "SYNOPSIS") {
			t.Errorf("man %s shows %.200q", page, got)
		}
	}
	if got := j.must(root, "git agentxchain --help | col -b"); !strings.Contains(got, "SYNOPSIS") {
		t.Errorf("git agentxchain --help shows %.200q", got)
	}
}

// elsewhere gives the files of the deb the names that they have on other systems.
func elsewhere(deb []string) []string {
	var all []string
	for _, file := range deb {
		file = strings.Replace(file, "usr/share/zsh/vendor-completions/", "usr/share/zsh/site-functions/", 1)
		file = strings.Replace(file, "usr/share/doc/git-agentxchain/copyright",
			"usr/share/licenses/git-agentxchain/LICENSE", 1)
		if !strings.HasSuffix(file, "/") {
			all = append(all, file)
		}
	}
	slices.Sort(all)
	return all
}

// members lists the files that a package has for the system, without directories and the packager's own notes.
func members(t *testing.T, file string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bsdtar", "-tf", file).Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(name), "."), "/")
		if strings.HasPrefix(name, "usr/") && !strings.HasSuffix(name, "/") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
