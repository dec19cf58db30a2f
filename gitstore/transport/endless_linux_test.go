package transport

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestARemoteThatNeverEnds fetches from a server whose pack is endless: git is stopped before the disk is full, and
// its output is removed.
func TestARemoteThatNeverEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go endless(c)
		}
	}()
	ours := testrepo.New(t, testrepo.Options{})
	ours.Git("remote", "add", "origin", "git://"+l.Addr().String()+"/p.git")
	ours.Git("config", git.FetchLimitSetting, "1m")
	repo, err := git.Discover(t.Context(), ours.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	err = FetchRuns(t.Context(), repo, "origin", nil)
	if fail.CodeOf(err) != fail.CodeFetchTooLarge || !strings.Contains(err.Error(), "origin sent more than 1 MiB") {
		t.Errorf("%s: %v", fail.CodeOf(err), err)
	}
	if left, _ := filepath.Glob(filepath.Join(ours.Dir, ".git", "objects", "pack", "*")); len(left) > 0 {
		t.Error("left behind:", left)
	}
}

// endless answers a fetch with one ref and a pack of very many blobs.
func endless(c net.Conn) {
	defer func() { _ = c.Close() }()
	line := func(text string) { _, _ = fmt.Fprintf(c, "%04x%s", len(text)+4, text) }
	in := bufio.NewReader(c)
	line(strings.Repeat("1", 40) + " " + git.RunRefPrefix + "run_1\x00side-band-64k ofs-delta agent=test\n")
	_, _ = io.WriteString(c, "0000")
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		n, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil {
			return
		}
		text := make([]byte, max(4, n)-4)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		if strings.HasPrefix(string(text), "done") {
			break
		}
	}
	line("NAK\n")
	data := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, 1<<20)...)
	blob := make([]byte, 32<<10)
	for {
		if _, err := fmt.Fprintf(c, "%04x\x01%s", len(data)+5, data); err != nil {
			return
		}
		_, _ = rand.Read(blob)
		size := len(blob)
		data = append(data[:0], 0x80|3<<4|byte(size&15), 0x80|byte(size>>4&127), byte(size>>11))
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		_, _ = w.Write(blob)
		_ = w.Close()
		data = append(data, z.Bytes()...)
	}
}
