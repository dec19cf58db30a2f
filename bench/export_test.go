// Exporting a run of 100 MB and verifying the artifact, compared with sha256sum and, where
// AGENTXCHAIN_REFERENCE names its program, with the reference CLI.

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// BenchmarkExport alternates between the programs, so that other load on the machine affects all of
// them alike. Ratios are of the medians. The number and size of the files are what the reference
// exports completely: 300 documents of 250 KB, 190 texts of 125 KB.
func BenchmarkExport(b *testing.B) {
	p, err := play.New(filepath.Join(b.TempDir(), "project"), program, play.Review)
	if err == nil {
		err = p.Turns(2)
	}
	if err != nil {
		b.Fatal(err)
	}
	out := b.TempDir()
	flat := filepath.Join(out, "decoded")
	largePlans(b, p.Dir, flat)
	ours, theirs := filepath.Join(out, "ours.json"), filepath.Join(out, "reference.json")
	names := []string{"export", "verify", "sha256sum"}
	specs := []measure.Spec{
		{Argv: []string{program, "export", "--force", "-o", ours}},
		{Argv: []string{program, "verify", "export", ours}},
		{Argv: []string{"sha256sum", flat}},
	}
	if reference := os.Getenv("AGENTXCHAIN_REFERENCE"); reference != "" {
		names = append(names, "reference-export", "reference-verify")
		specs = append(specs, measure.Spec{Argv: []string{"node", reference, "export", "--output", theirs}},
			measure.Spec{Argv: []string{"node", reference, "verify", "export", "--input", ours}})
	}
	if _, err := exec.LookPath("sha256sum"); err != nil {
		b.Skip("sha256sum is not installed")
	}
	runs := make(map[string]measure.Series)
	for b.Loop() {
		for i, s := range specs {
			s.Dir, s.Env = p.Dir, play.Environment()
			c, _, err := measure.MustSucceed(s)
			if err != nil {
				b.Fatal(err)
			}
			runs[names[i]] = append(runs[names[i]], c)
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, n := range names {
		b.ReportMetric(ms(runs[n].Wall().Median), n+"-ms")
		b.ReportMetric(ms(runs[n].CPU().Median), n+"-cpu-ms")
		b.ReportMetric(float64(runs[n].Peak().Median)/(1<<20), n+"-MiB-peak")
	}
	ratio := func(of, to string) float64 {
		return float64(runs[of].Wall().Median) / float64(runs[to].Wall().Median)
	}
	b.ReportMetric(ratio("sha256sum", "verify"), "verify-of-sha256sum")
	if len(specs) > 3 {
		b.ReportMetric(ratio("reference-export", "export"), "export-ratio")
		b.ReportMetric(ratio("reference-verify", "verify"), "verify-ratio")
	}
}

// largePlans fills a project's .planning, and flat with the same bytes in one file.
func largePlans(b *testing.B, dir, flat string) {
	b.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 2000 {
		words = append(words, fmt.Sprintf("%x", rnd.Uint64()>>24))
	}
	words = append(words, "état", `"quoted"`, `back\slash`, "line\nfeed")
	text := func(n int) string {
		var t bytes.Buffer
		for t.Len() < n {
			t.WriteString(words[rnd.IntN(len(words))] + " ")
		}
		return t.String()
	}
	all, err := os.Create(flat)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = all.Close() }()
	if err := os.MkdirAll(filepath.Join(dir, ".planning/data"), 0o777); err != nil {
		b.Fatal(err)
	}
	for i := range 490 {
		name, data := fmt.Sprintf("note%03d.md", i), []byte(text(120_000))
		if i < 300 {
			name = fmt.Sprintf("document%03d.json", i)
			var rows []any
			for size := 0; size < 215_000; size += 260 {
				rows = append(rows, map[string]any{
					"id":    len(rows),
					"name":  words[len(rows)%2000],
					"score": rnd.Float64(),
					"ok":    i%2 == 0,
					"tags":  words[:4],
					"note":  text(120),
				})
			}
			if data, err = json.Marshal(map[string]any{"rows": rows}); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, ".planning/data", name), data, 0o666); err != nil {
			b.Fatal(err)
		}
		if _, err := all.Write(data); err != nil {
			b.Fatal(err)
		}
	}
}
