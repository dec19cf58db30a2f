// The catalogue of damage that disks, power cuts, other tools, other systems and people do to a project.

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// damages returns all kinds.
func damages(b *damageBase) []*damage {
	run := "refs/agentxchain/runs/" + b.run
	var all []*damage
	add := func(name string, k damage) { k.name = name; all = append(all, &k) }
	unreadable := []string{"object_missing", "object_corrupt", "object_invalid", "chain_broken"}

	// The object store.
	add("nothing", damage{do: func(*testing.T, *damaged) {}})
	add("pack missing", damage{do: func(t *testing.T, d *damaged) { d.packs(t, os.Remove) }, named: unreadable})
	add("pack without its index", damage{
		do: func(t *testing.T, d *damaged) {
			for _, f := range d.glob(".git/objects/pack/*.idx") {
				d.remove(f)
			}
		},
		named: unreadable,
		mend: [][]string{{"sh", "-c", "for p in .git/objects/pack/*.pack; do git index-pack $p; done"},
			{"doctor", "--fix"}},
	})
	add("pack torn off", damage{do: func(t *testing.T, d *damaged) {
		d.packs(t, func(p string) error { return os.Truncate(p, sizeOf(t, p)/2) })
	}, named: unreadable})
	add("pack with a flipped bit", damage{do: func(t *testing.T, d *damaged) {
		d.packs(t, func(p string) error {
			return rewrite(p, func(data []byte) []byte { return flipped(data, len(data)/2) })
		})
	}, named: unreadable})
	add("index of a pack emptied", damage{do: func(t *testing.T, d *damaged) {
		for _, f := range d.glob(".git/objects/pack/*.idx") {
			d.write(f, nil)
		}
	}, named: unreadable})
	add("index of a pack with a flipped bit", damage{do: func(t *testing.T, d *damaged) {
		for _, f := range d.glob(".git/objects/pack/*.idx") {
			d.write(f, flipped(d.read(f), 8+256*4+3))
		}
	}, named: unreadable})
	add("multi-pack-index that names what is gone", damage{do: func(t *testing.T, d *damaged) {
		d.git("multi-pack-index", "write")
		d.git("repack", "-adfq")
		d.git("multi-pack-index", "write")
		data := d.read(".git/objects/pack/multi-pack-index")
		d.write(".git/objects/pack/multi-pack-index", bytes.Replace(data, []byte("pack-"), []byte("pack_"), 1))
	}})
	for _, object := range []struct{ name, spec string }{
		{"newest operation", run}, {"operation in the middle", run + "~1"}, {"first operation", run + "~3"},
		{"tree", run + "^{tree}"}, {"inner tree", run + ":ledger"}, {"state", run + ":state.json"},
		{"record", run + ":op.json"},
		{"segment of a ledger", run + ":ledger/history/000000/00"}, {"configuration", run + ":agentxchain.json"},
		{"first state", run + "~3:state.json"},
	} {
		for _, how := range []struct {
			name string
			f    func(data []byte) []byte
		}{
			{"missing", nil},
			{"emptied", func([]byte) []byte { return nil }},
			{"zeroed", func(data []byte) []byte { return make([]byte, len(data)) }},
			{"torn off", func(data []byte) []byte { return data[:len(data)/2] }},
			{"with a flipped bit", func(data []byte) []byte { return flipped(data, len(data)/2) }},
			{"with its header flipped", func(data []byte) []byte { return flipped(data, 0) }},
		} {
			k := damage{do: func(t *testing.T, d *damaged) {
				name := d.loose(t, object.spec)
				if how.f == nil {
					d.remove(name)
					return
				}
				d.write(name, how.f(d.read(name)))
			}, named: unreadable, answers: []string{"runs"}}
			if object.name == "tree" && how.name == "torn off" {
				k.again = []string{"inject work", "runs list", "runs show " + b.run}
			}
			add(object.name+" "+how.name, k)
		}
	}
	add("object that is another", damage{do: func(t *testing.T, d *damaged) {
		other := d.read(d.loose(t, run+":op.json"))
		d.write(d.loose(t, run+":state.json"), other)
	}, named: unreadable, answers: []string{"runs"}})
	add("objects of the project's commits missing", damage{do: func(t *testing.T, d *damaged) {
		d.remove(d.loose(t, "HEAD^{tree}"))
	}})
	add("alternates that lead nowhere", damage{do: func(t *testing.T, d *damaged) {
		d.write(".git/objects/info/alternates", []byte("/nonexistent/objects\n"))
	}, named: unreadable})

	// Refs.
	refs := []struct {
		name string
		f    func(d *damaged) string
	}{
		{"torn off", func(d *damaged) string { return b.tip[:17] }},
		{"emptied", func(d *damaged) string { return "" }},
		{"zeroed", func(d *damaged) string { return strings.Repeat("\x00", 41) }},
		{"with words", func(d *damaged) string { return "not an id\n" }},
		{"at what is not there", func(d *damaged) string { return strings.Repeat("ab", 20) + "\n" }},
		{"at nothing", func(d *damaged) string { return strings.Repeat("0", 40) + "\n" }},
		{"at a blob", func(d *damaged) string { return d.git("rev-parse", "HEAD:src/b.txt") + "\n" }},
		{"at a tree", func(d *damaged) string { return d.git("rev-parse", "HEAD^{tree}") + "\n" }},
		{"at a tag", func(d *damaged) string {
			d.git("tag", "-a", "-m", "t", "marked", b.tip)
			return d.git("rev-parse", "marked") + "\n"
		}},
		{"at a commit of the project", func(d *damaged) string { return d.git("rev-parse", "HEAD") + "\n" }},
		{"at another run", func(d *damaged) string {
			return d.git("rev-parse", "refs/agentxchain/runs/"+b.old) +
				"\n"
		}},
		{"set back", func(d *damaged) string { return d.git("rev-parse", b.tip+"~1") + "\n" }},
		{"symbolic", func(d *damaged) string { return "ref: refs/heads/main\n" }},
	}
	for _, r := range refs {
		answers, again := []string{"runs"}, []string(nil)
		switch r.name {
		case "at a blob", "at nothing":
			again = []string{"explain dirty_tree", "verify approvals", "log", "runs list", "approvals"}
		}
		if r.name == "set back" {
			// The target of the ref is a run as well; fsck knows that there was more.
			answers = []string{"*"}
		}
		add("ref "+r.name, damage{
			do: func(t *testing.T, d *damaged) {
				id := r.f(d)
				d.git("pack-refs", "--all", "--prune")
				d.write(".git/"+run, []byte(id))
			},
			named: []string{"ref_broken", "ref_is_symbolic", "object_missing", "object_invalid", "chain_broken",
				"record_invalid", "record_unproven", "run_missing", "ledger_tampered", "state_tampered"},
			answers: answers,
			again:   again,
		})
	}
	// An unrecorded run is in no list, and a line belongs to no known turn.
	gone := []string{"status", "runs", "sync", "why", "blame"}
	add("ref missing", damage{
		do:      func(t *testing.T, d *damaged) { d.git("update-ref", "-d", run) },
		named:   []string{"run_missing"},
		answers: gone,
		mend:    [][]string{{"sync"}},
		again:   []string{"approvals", "status", "assign"},
	})
	add("ref that is a directory", damage{do: func(t *testing.T, d *damaged) {
		d.git("update-ref", "-d", run)
		d.write(".git/"+run+"/deeper", []byte(b.tip+"\n"))
	}, named: []string{"run_missing", "bad_ref_name", "ref_broken"}, answers: gone})
	add("all refs missing", damage{
		do: func(t *testing.T, d *damaged) {
			d.remove(".git/refs/agentxchain")
			d.remove(".git/packed-refs")
		},
		named:   []string{"run_missing"},
		answers: gone,
		mend:    [][]string{{"git", "fetch", "-q", "origin", "main:refs/heads/main"}, {"sync"}},
	})
	add("packed refs torn off", damage{do: func(t *testing.T, d *damaged) {
		d.git("pack-refs", "--all", "--prune")
		data := d.read(".git/packed-refs")
		d.write(".git/packed-refs", data[:len(data)*2/3+7])
	}, named: []string{"git_failed", "run_missing", "ref_broken"}})
	add("packed refs zeroed", damage{do: func(t *testing.T, d *damaged) {
		d.git("pack-refs", "--all", "--prune")
		d.write(".git/packed-refs", make([]byte, len(d.read(".git/packed-refs"))))
	}, named: []string{"git_failed", "run_missing", "ref_broken"}})
	add("HEAD emptied", damage{
		do:    func(t *testing.T, d *damaged) { d.write(".git/HEAD", nil) },
		named: []string{"not_a_git_repository"},
	})
	add("HEAD with words", damage{
		do:    func(t *testing.T, d *damaged) { d.write(".git/HEAD", []byte("main\n")) },
		named: []string{"not_a_git_repository"},
	})
	add("HEAD at a branch that is not there", damage{
		do:      func(t *testing.T, d *damaged) { d.write(".git/HEAD", []byte("ref: refs/heads/gone\n")) },
		answers: []string{"*"},
	})
	add("branch emptied", damage{
		do:      func(t *testing.T, d *damaged) { d.write(".git/refs/heads/main", nil) },
		answers: []string{"*"},
	})
	add("branch at what is not there", damage{do: func(t *testing.T,
		d *damaged) {
		d.write(".git/refs/heads/main", []byte(strings.Repeat("ab", 20)+"\n"))
	}})

	// Git's index, configuration and locks.
	// Git believes an index with a wrong checksum: its contents are git's answer, and so ours.
	index := func(name string, f func(data []byte) []byte) {
		add("index "+name, damage{
			do:      func(t *testing.T, d *damaged) { d.write(".git/index", f(d.read(".git/index"))) },
			answers: []string{"*"},
		})
	}
	index("emptied", func([]byte) []byte { return nil })
	index("torn off", func(data []byte) []byte { return data[:len(data)/2] })
	index("with a flipped bit", func(data []byte) []byte { return flipped(data, len(data)/2) })
	index("of a version to come", func(data []byte) []byte { data[7] = 9; return data })
	for _, version := range []string{"2", "3", "4"} {
		add("index of version "+version,
			damage{do: func(t *testing.T, d *damaged) { d.git("update-index", "--index-version", version) }})
	}
	add("index missing", damage{do: func(t *testing.T, d *damaged) { d.remove(".git/index") }, answers: []string{"*"}})
	add("configuration of git with words", damage{
		do:    func(t *testing.T, d *damaged) { d.write(".git/config", []byte("[core\nthis is none")) },
		named: []string{"git_failed", "not_a_git_repository"},
	})
	add("configuration of git emptied", damage{
		do:      func(t *testing.T, d *damaged) { d.write(".git/config", nil) },
		answers: []string{"status", "sync"},
	})
	add("repository of a format to come", damage{
		do:    func(t *testing.T, d *damaged) { d.git("config", "core.repositoryFormatVersion", "7") },
		named: []string{"unsupported_repository_format", "not_a_git_repository", "git_failed"},
	})
	add("repository of an unknown extension", damage{do: func(t *testing.T, d *damaged) {
		d.git("config", "core.repositoryFormatVersion", "1")
		d.git("config", "extensions.unheardOf", "true")
	}, named: []string{"unsupported_repository_format", "not_a_git_repository", "git_failed"}})
	for _, lock := range []string{"index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", run + ".lock",
		"refs/heads/main.lock"} {
		add("stale "+strings.Replace(lock, b.run, "RUN", 1), damage{do: func(t *testing.T, d *damaged) {
			d.write(".git/"+lock, nil)
			old := time.Now().Add(-time.Hour)
			_ = os.Chtimes(d.path(".git/"+lock), old, old)
		}})
	}
	for name, content := range map[string]string{
		"emptied":           "",
		"torn off":          `{"pid":12`,
		"with words":        "lock\n",
		"of a dead process": `{"pid":999999999,"operation":"accept_turn","acquired_at":"2026-01-01T00:00:00.000Z"}`,
	} {
		add("lock "+name, damage{do: func(t *testing.T, d *damaged) {
			d.write(".agentxchain/locks/accept-turn.lock", []byte(content))
			old := time.Now().Add(-time.Hour)
			_ = os.Chtimes(d.path(".agentxchain/locks/accept-turn.lock"), old, old)
		}})
	}

	// Working files.
	work := []string{"state_tampered", "ledger_tampered", "invalid_state", "working_files", "acceptance_forged",
		"bundle_invalid"}
	for _, f := range []string{".agentxchain/state.json", ".agentxchain/session.json", ".agentxchain/history.jsonl",
		".agentxchain/decision-ledger.jsonl", ".agentxchain/events.jsonl", "TALK.md"} {
		for _, how := range []struct {
			name string
			f    func(data []byte) []byte
		}{
			{"missing", nil},
			{"emptied", func([]byte) []byte { return nil }},
			{"zeroed", func(data []byte) []byte { return make([]byte, len(data)) }},
			{"torn off", func(data []byte) []byte { return data[:len(data)-len(data)/3] }},
			{"with zeros after it", func(data []byte) []byte { return append(data, make([]byte, 512)...) }},
			{"with a flipped bit", func(data []byte) []byte { return flipped(data, len(data)/2) }},
		} {
			k := damage{
				do: func(t *testing.T, d *damaged) {
					if how.f == nil {
						d.remove(f)
						return
					}
					d.write(f, how.f(d.read(f)))
				},
				named:   work,
				answers: []string{"textconv", "export", "audit", "runs"},
				mend:    [][]string{{"repair", "--from-ref", b.run, "--yes"}},
			}
			if f == ".agentxchain/session.json" && (how.name == "missing" || how.name == "with a flipped bit") {
				// Another tool may have written it like this: it is a hint, and the next command records it.
				k.named, k.by, k.word, k.answers, k.mend = nil, []string{"fsck"}, f, []string{"*"}, nil
			}
			add(f+" "+how.name, k)
		}
	}
	fromRef := [][]string{{"repair", "--from-ref", b.run, "--yes"}}
	add("all of .agentxchain missing", damage{
		do:      func(t *testing.T, d *damaged) { d.remove(".agentxchain") },
		named:   work,
		answers: []string{"runs"},
		mend:    fromRef,
	})
	add("half of .agentxchain missing", damage{do: func(t *testing.T, d *damaged) {
		for i, f := range d.below(".agentxchain") {
			if i%2 == 0 {
				d.remove(f)
			}
		}
	}, named: work, mend: fromRef})
	add("half of the checkout missing", damage{do: func(t *testing.T, d *damaged) {
		for _, f := range []string{".planning", "src/b.txt", "TALK.md"} {
			d.remove(f)
		}
	}, named: work, mend: fromRef, user: []string{"src/b.txt"}})
	add("bundles missing", damage{
		do:      func(t *testing.T, d *damaged) { d.remove(".agentxchain/dispatch") },
		by:      []string{"doctor"},
		word:    "dispatch",
		answers: []string{"turn", "export", "audit", "sync"},
		mend:    fromRef,
	})
	add("agentxchain.json missing", damage{
		do:    func(t *testing.T, d *damaged) { d.remove("agentxchain.json") },
		named: []string{"not_a_project"},
	})
	for name, f := range map[string]func(data []byte) []byte{
		"emptied":  func([]byte) []byte { return nil },
		"torn off": func(data []byte) []byte { return data[:len(data)/2] },
		"zeroed":   func(data []byte) []byte { return make([]byte, len(data)) },
		"of a shape to come": func(data []byte) []byte {
			return bytes.Replace(data, []byte(`"schema_version": "1.`), []byte(`"schema_version": "9.`), 1)
		},
	} {
		add("agentxchain.json "+name, damage{
			do:      func(t *testing.T, d *damaged) { d.write("agentxchain.json", f(d.read("agentxchain.json"))) },
			by:      []string{"validate"},
			word:    "agentxchain.json",
			answers: []string{"config", "status", "export", "audit"},
		})
	}
	staged := ".agentxchain/staging/" + b.turn + "/turn-result.json"
	for name, f := range map[string]func(data []byte) []byte{
		"missing": nil, "emptied": func([]byte) []byte {
			return nil
		}, "torn off": func(data []byte) []byte { return data[:len(data)/2] },
		"zeroed": func(data []byte) []byte { return make([]byte, len(data)) },
	} {
		add("staged result "+name, damage{do: func(t *testing.T, d *damaged) {
			if f == nil {
				d.remove(staged)
				return
			}
			d.write(staged, f(d.read(staged)))
		}, answers: []string{"*"}})
	}

	// Files that the program keeps for itself beside the record.
	for name, f := range map[string]func(data []byte) []byte{
		"emptied": func([]byte) []byte {
			return nil
		}, "torn off": func(data []byte) []byte { return data[:len(data)/2] },
		"zeroed": func(data []byte) []byte {
			return make([]byte, len(data))
		}, "with a flipped bit": func(data []byte) []byte { return flipped(data, len(data)/2) },
	} {
		add("caches and notes "+name, damage{do: func(t *testing.T, d *damaged) {
			for _, p := range d.below(".git/agentxchain") {
				d.write(p, f(d.read(p)))
			}
		}})
	}
	add("caches and notes missing", damage{do: func(t *testing.T, d *damaged) { d.remove(".git/agentxchain") }})
	add("a file in the place of the notes", damage{
		do: func(t *testing.T, d *damaged) {
			d.remove(".git/agentxchain")
			d.write(".git/agentxchain", []byte("x"))
		},
		named: []string{"unsafe_target"},
		mend:  [][]string{{"sh", "-c", "rm .git/agentxchain"}},
		again: []string{"explain planning_signoff"},
	})

	// Records of other versions.
	add("operation of a rule set to come", damage{
		do: func(t *testing.T, d *damaged) {
			now, later := fmt.Appendf(nil, `"rules": %d`, protocol.RuleSet), fmt.Appendf(nil, `"rules": %d`, protocol.RuleSet+5)
			d.rerecord(t, run, func(op []byte) []byte { return bytes.Replace(op, now, later, 1) })
		},
		by:      []string{"fsck", "--replay", "--all-runs"},
		word:    "rules_earlier",
		answers: []string{"whatif", "sync", "show"},
	})
	goBack := [][]string{{"repair", "--from-op", b.tip + "~1", "--yes"}}
	add("operation of an unknown name", damage{do: func(t *testing.T, d *damaged) {
		d.rerecord(t, run,
			func(op []byte) []byte { return bytes.ReplaceAll(op, []byte("assign_turn"), []byte("teleport_turn")) })
	}, named: []string{"record_invalid"}, answers: []string{"show"}, mend: goBack})
	add("operation whose record is no JSON", damage{do: func(t *testing.T, d *damaged) {
		d.rerecord(t, run, func(op []byte) []byte { return op[:len(op)/2] })
	}, named: []string{"record_invalid"}, answers: []string{"show"}, mend: goBack})

	// The system below.
	add("no links", damage{do: func(t *testing.T, d *damaged) { d.git("config", "core.symlinks", "false") }})
	add("no letter case", damage{do: func(t *testing.T, d *damaged) { d.git("config", "core.ignoreCase", "true") }})
	add("no modes", damage{do: func(t *testing.T, d *damaged) { d.git("config", "core.fileMode", "false") }})
	for name, now := range map[string]string{
		"1970": "1970-01-01T00:00:10Z",
		"2106": "2106-02-07T06:28:20Z",
		"2262": "2262-04-11T23:47:20Z",
	} {
		add("clock in "+name, damage{
			do:      func(*testing.T, *damaged) {},
			env:     []string{"SCRIPT_NOW=" + now},
			answers: []string{"*"},
		})
	}
	for name, at := range map[string]time.Time{"1970": time.Unix(0, 0), "2106": time.Unix(1<<32+20, 0)} {
		add("files of "+name, damage{do: func(t *testing.T, d *damaged) {
			for _, f := range append(d.below("."), d.below(".git")...) {
				_ = os.Chtimes(d.path(f), at, at)
			}
		}})
	}
	add("read-only", damage{wrap: func(t *testing.T, d *damaged) []string {
		return namespaced(`mount --bind -o ro "$0" "$0" 2>/dev/null || { mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"; } || exit 99; cd "$0" && exec "$@"`, d.dir)
	}, do: func(*testing.T, *damaged) {}})
	add("full disk", damage{wrap: func(t *testing.T, d *damaged) []string {
		return namespaced(`up=$(dirname "$0"); small=$(mktemp -d) && mount -t tmpfs -o size=12m none "$small" && cp -a "$0" "$small/p" && mount --bind "$small/p" "$0" || exit 99
			head -c 20000000 /dev/zero >"$0/.git/filler" 2>/dev/null; cd "$0" && exec "$@"`, d.dir)
	}, do: func(*testing.T, *damaged) {}})
	add("another's repository", damage{
		wrap: func(t *testing.T, d *damaged) []string {
			if os.Geteuid() != 0 || !testrepo.HasGit(2, 36) { // since 2.35.2 git asks who owns a repository
				return nil
			}
			return []string{"env"}
		},
		do:    func(t *testing.T, d *damaged) { mustAt(t, d.dir, "chown", "-R", "12345:12345", d.dir) },
		named: []string{"dubious_ownership"},
	})
	add("locks that the file system has none of", damage{wrap: func(t *testing.T, d *damaged) []string {
		if exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() != nil {
			return nil
		}
		return []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=flock,fcntl", "-e",
			"inject=flock:error=ENOLCK"}
	}, do: func(*testing.T, *damaged) {}})
	return all
}

// namespaced returns a prefix that starts a command in its own mount namespace after a shell line, empty where
// unsupported.
func namespaced(line, dir string) []string {
	if exec.Command("unshare", "-m", "true").Run() != nil {
		return nil
	}
	return []string{"unshare", "-m", "sh", "-c", line, dir}
}

func sizeOf(t *testing.T, path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func rewrite(path string, f func(data []byte) []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, f(data), 0o666)
}

// flipped returns data with one bit of the byte at i flipped.
func flipped(data []byte, i int) []byte {
	data = slices.Clone(data)
	if i < len(data) {
		data[i] ^= 0x10
	}
	return data
}

func (d *damaged) glob(pattern string) (names []string) {
	d.t.Helper()
	paths, err := filepath.Glob(d.path(pattern))
	if err != nil || len(paths) == 0 {
		d.t.Fatalf("nothing is %s: %v", pattern, err)
	}
	for _, p := range paths {
		name, _ := filepath.Rel(d.dir, p)
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

// below returns the files below a directory, sorted; git's files only for a directory of git's.
func (d *damaged) below(dir string) (names []string) {
	d.t.Helper()
	err := filepath.WalkDir(d.path(dir), func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(d.dir, path)
		if name = filepath.ToSlash(name); err != nil || name == ".git" && dir == "." {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if e.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return names
}

// packs puts all objects into packs, as git's housekeeping does, and harms them.
func (d *damaged) packs(t *testing.T, harm func(path string) error) {
	t.Helper()
	d.git("gc", "-q")
	for _, f := range d.glob(".git/objects/pack/*.pack") {
		if err := harm(d.path(f)); err != nil {
			t.Fatal(err)
		}
	}
}

// loose puts every object into a file of its own and returns the file of one.
func (d *damaged) loose(t *testing.T, spec string) string {
	t.Helper()
	oid := d.git("rev-parse", "--verify", spec)
	mustAt(t, d.dir, "sh", "-c", `set -e; mkdir .git/apart; mv .git/objects/pack/* .git/apart/ 2>/dev/null || :
		for p in .git/apart/*.pack; do [ ! -f "$p" ] || git unpack-objects -q <"$p"; done; rm -rf .git/apart .git/objects/info/commit-graph*`)
	return ".git/objects/" + oid[:2] + "/" + oid[2:]
}

// rerecord changes the record of the newest operation, as another version would have written it.
func (d *damaged) rerecord(t *testing.T, ref string, f func(op []byte) []byte) {
	t.Helper()
	op := filepath.Join(t.TempDir(), "op.json")
	before := []byte(d.git("show", ref+":op.json") + "\n")
	after := f(before)
	was := d.git("rev-parse", ref)
	if bytes.Equal(before, after) {
		t.Fatalf("the record is the same: %s", before)
	}
	if err := os.WriteFile(op, after, 0o666); err != nil {
		t.Fatal(err)
	}
	mustAt(t, d.dir, "sh", "-c", fmt.Sprintf(`set -e; blob=$(git hash-object -w %s)
		tree=$(git ls-tree %[2]s | sed "s/[0-9a-f]*	op.json\$/$blob	op.json/" | git mktree)
		git update-ref %[2]s $(git cat-file commit %[2]s | sed "1s/.*/tree $tree/" | git hash-object -t commit -w --stdin)`, op, ref))
	d.rewritten = [2]string{d.git("rev-parse", ref), was}
}
