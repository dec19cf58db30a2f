// The content of blobs after a checkout: line ends, encodings and the filters that attributes name.

package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Filed is a blob with a path relative to the root of the work tree.
type Filed struct {
	OID  object.OID
	Path string
}

// maxUnfiltered is how many blobs may have a failing filter; the blobs after them are not read.
const maxUnfiltered = 100

// CheckedOut calls each with the SHA-256, in hexadecimal digits, of every blob as a checkout of its path would
// write it. It does not fetch what git-lfs keeps: the pointer names the sum. It skips paths that cannot be passed
// to git in a line, and blobs on which a required filter fails, such as one that is not installed here. A missing
// blob is skipped too, and so is the one before it. It starts three git processes, and one more for each failing
// filter.
func (r *Repository) CheckedOut(ctx context.Context, blobs []Filed, each func(i int, sum string)) error {
	var asked []int
	var paths []string
	for i, b := range blobs {
		if b.OID != "" && askable(b.Path) && strings.TrimLeft(b.Path, " \t") == b.Path {
			asked = append(asked, i)
			paths = append(paths, b.Path)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	filters, err := r.Git.In(r.TopLevel).Filters(ctx, paths)
	if err != nil {
		return err
	}
	var stored []int
	var names []string
	for _, i := range asked {
		if filters[blobs[i].Path] == "lfs" {
			stored = append(stored, i)
			names = append(names, string(blobs[i].OID))
		}
	}
	told := make(map[int]bool)
	err = r.ReadNamed(ctx, names, func(n int, o Named) {
		if sum := storedSum(o.Data); sum != "" {
			each(stored[n], sum)
			told[stored[n]] = true
		}
	})
	asked = slices.DeleteFunc(asked, func(i int) bool { return told[i] })
	for tries := 0; err == nil && len(asked) > 0 && tries <= maxUnfiltered; tries++ {
		var done int
		done, err = r.checkOut(ctx, blobs, asked, each)
		asked = asked[min(done+1, len(asked)):] // the blob at which git exited has failed
	}
	return err
}

// Filters returns the filters that attributes name for the paths, by path; paths without a filter are left out.
func (g *Git) Filters(ctx context.Context, paths []string) (map[string]string, error) {
	out, err := g.Run(ctx, NulTerminated(paths), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	filters := make(map[string]string)
	answers := strings.Split(string(out), "\x00") // path, attribute, value
	for i := 0; i+2 < len(answers); i += 3 {
		if v := answers[i+2]; v != "unspecified" && v != "unset" && v != "set" {
			filters[answers[i]] = v
		}
	}
	return filters, nil
}

// storedSum returns the SHA-256 of the file that a git-lfs pointer represents, "" when data is not a pointer, or is
// one with an extension, which transforms the file.
func storedSum(data []byte) string {
	lines := strings.Split(string(data[:min(len(data), 1024)]), "\n")
	if len(lines) != 4 || lines[3] != "" || !strings.HasSuffix(lines[0], "/spec/v1") || !strings.HasPrefix(lines[2], "size ") {
		return ""
	}
	sum, ok := strings.CutPrefix(lines[1], "oid sha256:")
	if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
		return ""
	}
	return sum
}

// checkOut requests the blobs in asked from one git process and returns how many of them it got through.
func (r *Repository) checkOut(
	ctx context.Context, blobs []Filed, asked []int, each func(i int, sum string),
) (done int, err error) {
	// For each object git prints its size before filtering, so a line that no content can hold marks where an
	// object ends.
	mark := rand.Text() + " "
	args := []string{"cat-file", "--filters", "--batch=" + mark + "%(objectname)"}
	cmd, err := r.Git.In(r.TopLevel).Command(ctx, args)
	if err != nil {
		return 0, err
	}
	var in bytes.Buffer
	for _, i := range asked {
		in.WriteString(string(blobs[i].OID) + " " + blobs[i].Path + "\n")
	}
	complaint := &BoundedBuffer{Limit: MaxGitStderr}
	cmd.Stdin, cmd.Stderr = &in, complaint
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, r.Git.Failure(args, err, "")
	}
	if err := cmd.Start(); err != nil {
		return 0, r.Git.Failure(args, err, "")
	}
	sumMarked(bufio.NewReaderSize(pipe, 256<<10), mark, func(id, sum string) {
		for done < len(asked) && string(blobs[asked[done]].OID) != id {
			done++ // it is missing
		}
		if done < len(asked) {
			each(asked[done], sum)
			done++
		}
	})
	_ = cmd.Wait() // how far git got tells whether it failed
	if ctx.Err() != nil {
		return 0, interrupted(ctx, args)
	}
	return done, nil
}

// sumMarked calls each with the sum of what follows each line of mark and an id, if complete: then it ends with a
// line feed, which is not part of it.
func sumMarked(out *bufio.Reader, mark string, each func(id, sum string)) {
	var id string
	var content hash.Hash
	fed := false // the last byte was a line feed
	end := func() {
		if content != nil && fed {
			each(id, hex.EncodeToString(content.Sum(nil)))
		}
	}
	for lineStart := true; ; {
		part, err := out.ReadSlice('\n')
		if name, ok := strings.CutPrefix(string(part[:min(len(part), 200)]), mark); ok && lineStart {
			end()
			id, content, fed = strings.TrimSuffix(name, "\n"), sha256.New(), false
			continue
		}
		if content != nil && len(part) > 0 {
			if fed {
				content.Write([]byte{'\n'})
			}
			var line []byte
			line, fed = bytes.CutSuffix(part, []byte("\n"))
			content.Write(line)
		}
		if err != nil && err != bufio.ErrBufferFull {
			end()
			return
		}
		lineStart = err == nil
	}
}
