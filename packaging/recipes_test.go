// Dockerfile, Nix flake, Makefile and the Action build what .goreleaser.yaml releases: the same program, with the
// same tags and flags, under the expected names.

package packaging_test

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

var updateFlake = flag.Bool("update-flake", false, "write the hash of the linked modules into flake.nix")

func recipe(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// match returns what a pattern finds; it must find something.
func match(t *testing.T, name, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(recipe(t, name))
	if m == nil {
		t.Fatalf("%s has nothing that matches %s", name, pattern)
	}
	return m[1]
}

func TestRecipesBuildTheSame(t *testing.T) {
	c := goreleaser(t)
	b := c.Builds[0]
	tags, ldflags := strings.Join(b.Tags, ","), strings.Join(b.Ldflags, " ")
	for name, parts := range map[string][]string{
		"packaging/Dockerfile": {
			strings.Join(b.Env, " ") + " go build", "-tags " + tags, strings.Join(b.Flags, " "),
			"-ldflags '" + ldflags + "'", b.Main + "\n",
		},
		"packaging/action/install.sh": {strings.Join(b.Env, " ") + " go build", "-tags " + tags,
			strings.Join(b.Flags, " "), b.Main + "\n"},
		"packaging/prepare.sh": {strings.Join(b.Env, " ") + " go build", "-tags " + tags,
			strings.Join(b.Flags, " "), b.Main + "\n"},
		"docs/releasing.md": {strings.Join(b.Env, " ") + " go build -tags " + tags + " " +
			strings.Join(b.Flags, " ") + " -ldflags '" + ldflags + "'"},
		"Makefile": {"TAGS    ?= " + tags + "\n"},
	} {
		for _, part := range parts {
			if !strings.Contains(recipe(t, name), part) {
				t.Errorf("%s does not build as releases are built: it has no %q", name, part)
			}
		}
	}

	quoted := func(list ...string) string { return `[ "` + strings.Join(list, `" "`) + `" ]` }
	// buildGoModule sets it, and -trimpath
	ours := slices.DeleteFunc(strings.Fields(ldflags), func(f string) bool { return f == "-buildid=" })
	for key, want := range map[string]string{
		"pname":           `"` + c.ProjectName + `"`,
		"subPackages":     quoted(strings.TrimPrefix(b.Main, "./")),
		"tags":            quoted(b.Tags...),
		"ldflags":         quoted(ours...),
		"env.CGO_ENABLED": strings.TrimPrefix(b.Env[0], "CGO_ENABLED="),
	} {
		if got := match(t, "flake.nix", `\n\s*`+regexp.QuoteMeta(key)+` = ([^;]*);`); got != want {
			t.Errorf("flake.nix: %s is %s, expected %s", key, got, want)
		}
	}
	arches := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
	var systems []string
	for _, os := range b.Goos {
		for _, arch := range b.Goarch {
			if os != "windows" { // there is no Nix there
				systems = append(systems, arches[arch]+"-"+os)
			}
		}
	}
	if got := match(t, "flake.nix", `systems = ([^;]*);`); got != quoted(systems...) {
		t.Errorf("flake.nix: systems are %s, expected %s", got, quoted(systems...))
	}
}

func TestRecipesUseTheGoOfTheModule(t *testing.T) {
	module := match(t, "go.mod", `\ngo (\d+\.\d+)`)
	if image := match(t, "packaging/Dockerfile", `FROM golang:(\d+\.\d+)-`); image != module {
		t.Errorf("packaging/Dockerfile builds with Go %s, go.mod asks for %s", image, module)
	}
}

// Installers of a release look for the archives under the names that goreleaser gives them.
func TestRecipesNameTheArchives(t *testing.T) {
	c := goreleaser(t)
	i := slices.IndexFunc(c.Archives, func(a archive) bool { return a.ID == "archives" })
	if i < 0 {
		t.Fatal(".goreleaser.yaml has no archives with the id archives")
	}
	a := c.Archives[i]
	name := func(version, os, arch string) string {
		fields := strings.NewReplacer("{{ .ProjectName }}", c.ProjectName, "{{ .Version }}", version, "{{ .Os }}", os,
			"{{ .Arch }}", arch)
		return fields.Replace(cmp.Or(a.NameTemplate, "unnamed")) + "." + a.Formats[0]
	}
	if want := "/v$VERSION/" +
		name("${VERSION}", "${os}", "$arch"); !strings.Contains(recipe(t, "packaging/action/install.sh"), want) {
		t.Errorf("packaging/action/install.sh does not download %s", want)
	}
	if want := strings.TrimSuffix(name("*", "${os}", "$arch"),
		`.tar.gz`); !strings.Contains(strings.ReplaceAll(recipe(t, "packaging/npm/build.sh"), `"`, ""), want) {
		t.Errorf("packaging/npm/build.sh does not look for %s", want)
	}
	for _, os := range c.Builds[0].Goos {
		for _, arch := range c.Builds[0].Goarch {
			if !strings.Contains(recipe(t, "packaging/npm/build.sh"), os+"/"+arch) {
				t.Errorf("packaging/npm/build.sh makes no package for %s/%s", os, arch)
			}
		}
	}
}

// The hash by which Nix knows the modules matches the modules: an update of go.sum without it would break the flake
// for all its users.
func TestFlakeHash(t *testing.T) {
	testrepo.Thorough(t)
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{
		t:   t,
		env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "GOFLAGS": "-buildvcs=false"},
	}
	vendor := filepath.Join(t.TempDir(), "vendor")
	j.must(source, "go mod vendor -o '"+vendor+"'")
	want := nixSRI(nixHash(t, vendor))
	got := match(t, "flake.nix", `vendorHash = ([^;]*);`)
	if *updateFlake {
		text := strings.Replace(recipe(t, "flake.nix"), "vendorHash = "+got, `vendorHash = "`+want+`"`, 1)
		if err := os.WriteFile("../flake.nix", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got = `"` + want + `"`
	}
	if got != `"`+want+`"` {
		t.Errorf("flake.nix has the hash %s, the modules have %q: go test ./packaging -run TestFlakeHash -update-flake", got, want)
	}
}
