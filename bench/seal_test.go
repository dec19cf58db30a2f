// Sealing and verifying a large bundle, compared with sha256sum over the same files.

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
)

const (
	sealFiles = 2000
	sealBytes = 200 << 20
)

// BenchmarkSeal alternates between the three programs, so that other load on the machine affects
// all of them alike. The ratios are of the medians; above 1 means faster than sha256sum.
func BenchmarkSeal(b *testing.B) {
	sum, err := exec.LookPath("sha256sum")
	if err != nil {
		b.Skip("sha256sum is not installed")
	}
	sealer := filepath.Join(b.TempDir(), "seal")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", sealer,
		"./seal").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	dir := b.TempDir()
	names := largeBundle(b, dir)
	specs := []measure.Spec{
		{Argv: append([]string{sum}, names...), Dir: dir},
		{Argv: []string{sealer, "seal", "."}, Dir: dir},
		{Argv: []string{sealer, "verify", "."}, Dir: dir},
	}
	runs := make([]measure.Series, len(specs))
	for b.Loop() {
		for i, s := range specs {
			c, _, err := measure.MustSucceed(s)
			if err != nil {
				b.Fatal(err)
			}
			runs[i] = append(runs[i], c)
		}
	}
	base := runs[0].Wall().Median
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(base), "sha256sum-ms")
	for i, name := range []string{"", "seal", "verify"} {
		if name == "" {
			continue
		}
		b.ReportMetric(ms(runs[i].Wall().Median), name+"-ms")
		b.ReportMetric(float64(base)/float64(runs[i].Wall().Median), name+"-ratio")
		b.ReportMetric(float64(runs[i].Peak().Median)/(1<<20), name+"-MiB-peak")
	}
}

// largeBundle fills dir and returns the files' names.
func largeBundle(b *testing.B, dir string) []string {
	b.Helper()
	rnd := rand.NewChaCha8([32]byte{7})
	data := make([]byte, sealBytes/sealFiles)
	names := make([]string, sealFiles)
	for i := range names {
		names[i] = fmt.Sprintf("part-%02d/file-%04d.txt", i%20, i)
		path := filepath.Join(dir, names[i])
		_, _ = rnd.Read(data)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return names
}
