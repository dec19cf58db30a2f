// Tests of tree and commit objects against git, and with hostile input.

package object

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func oidFor(format string, n byte) OID {
	return OID(strings.Repeat(fmt.Sprintf("%02x", n|1), HexLen(format)/2))
}

func treeEntries() *rapid.Generator[[]TreeEntry] {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "a.", "a-b", "a0", "a b", "ab", "é", "\xff\xfe", "line\nbreak", "-x",
			".gitx"}),
		rapid.StringMatching(`[a-c./ -]{1,4}`).Filter(func(s string) bool {
			return !strings.Contains(s, "/") && s != "." && s != ".."
		}),
	)
	return rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) TreeEntry {
		return TreeEntry{
			Mode: rapid.SampledFrom([]Mode{ModeTree, ModeFile, ModeExec, ModeSymlink, ModeGitlink}).Draw(t, "mode"),
			Name: name.Draw(t, "name"),
			OID:  oidFor(FormatSHA1, rapid.Byte().Draw(t, "oid")),
		}
	}), func(e TreeEntry) string { return e.Name })
}

func TestTreeRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := treeEntries().Draw(rt, "entries")
		raw := EncodeTree(in)
		out, err := ParseTree(FormatSHA1, raw)
		if err != nil {
			rt.Fatal(err)
		}
		if string(EncodeTree(out)) != string(raw) || len(out) != len(in) {
			rt.Fatalf("%v became %v", in, out)
		}
	})
}

// Git's mktree sorts as we do.
func TestTreeOrderIsGits(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	blob := OID(r.GitInput("x", "hash-object", "-w", "--stdin"))
	sub := OID(r.GitInput("100644 blob "+string(blob)+"\tx\n", "mktree"))
	rapid.Check(t, func(rt *rapid.T) {
		in := treeEntries().Draw(rt, "entries")
		var spec strings.Builder
		for i := range in {
			kind := "blob"
			in[i].OID = blob
			switch in[i].Mode {
			case ModeTree:
				kind, in[i].OID = "tree", sub
			case ModeGitlink:
				in[i].Mode = ModeFile
			}
			fmt.Fprintf(&spec, "%06o %s %s\t%s\x00", uint32(in[i].Mode), kind, in[i].OID, in[i].Name)
		}
		want := r.GitInput(spec.String(), "mktree", "-z")
		if got := Hash(FormatSHA1, KindTree, EncodeTree(in)); string(got) != want {
			rt.Fatalf("%s, git says %s", got, want)
		}
	})
}

func TestParseTreeRefuses(t *testing.T) {
	oid := oidFor(FormatSHA1, 1)
	raw, _ := oid.Raw()
	e := func(mode, name string) string { return mode + " " + name + "\x00" + string(raw) }
	for name, in := range map[string]string{
		"cut id": "100644 a\x00short", "no nul": "100644 a", "no mode": " a\x00" +
			string(raw), "leading zero": e("0100644", "a"),
		"odd mode": e("100600", "a"), "letters": e("1006x4", "a"), "empty name": e("100644", ""), "dot": e("100644",
			"."),
		"dotdot": e("40000", ".."), "git": e("40000", ".git"), "GIT": e("40000", ".GiT"), "slash": e("100644", "a/b"),
		"order": e("100644", "b") + e("100644", "a"), "twice": e("100644", "a") + e("100644", "a"),
		"file and dir": e("100644", "a") + e("100644", "a.b") + e("40000", "a"), "long mode": e("1006440000", "a"),
	} {
		if got, err := ParseTree(FormatSHA1, []byte(in)); err == nil {
			t.Errorf("%s: accepted as %v", name, got)
		}
	}
	if _, err := ParseTree("md5", nil); err == nil {
		t.Error("unknown format accepted")
	}
}

func TestCommitRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom([]string{FormatSHA1, FormatSHA256}).Draw(rt, "format")
		sig := rapid.Custom(func(t *rapid.T) Signature {
			off := rapid.IntRange(-14*60, 14*60).Draw(t, "off") * 60
			loc := time.UTC
			if off != 0 {
				sign, m := '+', off/60
				if m < 0 {
					sign, m = '-', -m
				}
				loc = time.FixedZone(fmt.Sprintf("%c%02d%02d", sign, m/60, m%60), off)
			}
			return Signature{
				Name:  rapid.StringMatching(`[a-zé][a-z é]{0,8}[a-z]`).Draw(t, "name"),
				Email: rapid.StringMatching(`([a-z]{1,5}@[a-z]{1,5})?`).Draw(t, "email"),
				When:  time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "when"), 0).In(loc),
			}
		})
		in := &Commit{
			Tree: oidFor(format, 3), Author: sig.Draw(rt, "author"), Committer: sig.Draw(rt, "committer"),
			Message: rapid.StringMatching(`[a-z \n\xff]{0,30}`).Draw(rt, "message"),
		}
		for range rapid.IntRange(0, 3).Draw(rt, "parents") {
			in.Parents = append(in.Parents, oidFor(format, rapid.Byte().Draw(rt, "parent")))
		}
		for range rapid.IntRange(0, 2).Draw(rt, "extra") {
			in.Extra = append(in.Extra,
				Header{"gpgsig", rapid.StringMatching(`[a-z]{0,5}(\n[a-z]{0,5}){0,3}`).Draw(rt, "value")})
		}
		raw, err := EncodeCommit(format, in)
		if err != nil {
			rt.Fatal(err)
		}
		out, err := ParseCommit(format, raw)
		if err != nil {
			rt.Fatalf("%v\n%s", err, raw)
		}
		sameTime := cmp.Comparer(func(a, b time.Time) bool { return a.Format(time.RFC3339) == b.Format(time.RFC3339) })
		if d := cmp.Diff(in, out, sameTime); d != "" {
			rt.Fatalf("%s\n%s", d, raw)
		}
	})
}

func TestSignaturesAreMadeSafe(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.GitInput("", "mktree")
	for i, name := range []string{"", "  ", "a <b> c", "x\ncommitter evil <e> 0 +0000", "\x00\x01", ".,;", "\xff\xfe",
		"日本"} {
		s := Signature{Name: name, Email: name, When: time.Unix(-5, 0).In(time.FixedZone("", -3*3600-1800))}
		raw, err := EncodeCommit(FormatSHA1, &Commit{
			Tree:      EmptyTree(FormatSHA1),
			Author:    s,
			Committer: s,
			Message:   "m\n",
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseCommit(FormatSHA1, raw); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		r.Git("update-ref", fmt.Sprint("refs/agentxchain/runs/", i),
			r.GitInput(string(raw), "hash-object", "-t", "commit", "-w", "--stdin"))
	}
	r.Fsck()
	tree := EmptyTree(FormatSHA1)
	for name, c := range map[string]*Commit{
		"tree": {Tree: "x"}, "parent": {Tree: tree, Parents: []OID{"x"}}, "nul": {Tree: tree, Message: "a\x00b"},
		"header": {Tree: tree, Extra: []Header{{"a b", "c"}}},
	} {
		if _, err := EncodeCommit(FormatSHA1, c); err == nil {
			t.Errorf("%s accepted", name)
		}
	}
}

func TestParseCommitRefuses(t *testing.T) {
	oid, sig := string(oidFor(FormatSHA1, 1)), "A <a@b> 1 +0000"
	good := "tree " + oid + "\nauthor " + sig + "\ncommitter " + sig + "\n"
	if _, err := ParseCommit(FormatSHA1, []byte(good+"\nx")); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"empty": "", "no end": strings.TrimSuffix(good, "\n"), "short tree": strings.Replace(good, oid, oid[:39], 1),
		"no author": "tree " + oid + "\ncommitter " + sig + "\n\n", "no zone": strings.Replace(good, " +0000", "", 1) +
			"\n",
		"bad zone": strings.Replace(good, "+0000", "+00x0", 1) +
			"\n", "bad time": strings.Replace(good, "> 1", "> 1x", 1) + "\n",
		"no mail": strings.Replace(good, "<a@b>", "", 1) + "\n", "header": good + "nospace\n\n", "continuation": good +
			" x\n\n",
		"negative": strings.Replace(good, "> 1", "> -1", 1) + "\n",
	} {
		if c, err := ParseCommit(FormatSHA1, []byte(in)); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add(EncodeTree([]TreeEntry{{ModeFile, "a", oidFor(FormatSHA1, 1)}, {ModeTree, "a.b", oidFor(FormatSHA1, 2)}}))
	f.Add([]byte("40000 ..\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []string{FormatSHA1, FormatSHA256} {
			list, err := ParseTree(format, data)
			if err == nil && string(EncodeTree(list)) != string(data) {
				t.Fatalf("%v does not encode to what it was read from", list)
			}
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	raw, err := EncodeCommit(FormatSHA1, &Commit{
		Tree:    oidFor(FormatSHA1, 1),
		Extra:   []Header{{"gpgsig", "a\nb"}},
		Message: "m",
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCommit(FormatSHA1, data)
		if err != nil {
			return
		}
		again, err := EncodeCommit(FormatSHA1, c)
		if err != nil {
			return // a NUL in the message can be parsed but not written
		}
		if _, err := ParseCommit(FormatSHA1, again); err != nil {
			t.Fatalf("%v\n%q", err, again)
		}
	})
}
