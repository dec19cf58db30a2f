// The SSH keys with which the person can sign.

package signing

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Key is an SSH signing key.
type Key struct {
	Name    string // a value for user.signingKey: the file of the public key, or key::TYPE BASE64
	Public  string // "TYPE BASE64"
	Comment string // of the key, "" for none
}

// Limits on the search for keys.
const (
	maxKeyFile  = 16 << 10 // bytes of a public key
	maxKeyFiles = 200
	maxKeys     = 50
	agentTime   = 5 * time.Second
)

// Keys lists the keys that the person can sign with: first git's configured one, then those in ~/.ssh whose private
// key is beside them or in the agent, then those that only the agent has. It skips what it cannot read.
func Keys(ctx context.Context, s Settings) []Key {
	agent := agentKeys(ctx)
	var out []Key
	add := func(k Key) {
		same := func(have Key) bool { return have.Public == k.Public }
		if k.Public != "" && len(out) < maxKeys && !slices.ContainsFunc(out, same) {
			out = append(out, k)
		}
	}
	if s.Format == "ssh" && s.Key != "" {
		if k, err := s.ReadKey(s.Key); err == nil {
			add(k)
		}
	}
	files, _ := filepath.Glob(home("~/.ssh/*.pub"))
	for _, name := range files[:min(len(files), maxKeyFiles)] {
		k, err := s.ReadKey(name)
		if err != nil {
			continue
		}
		_, statErr := os.Stat(strings.TrimSuffix(name, ".pub"))
		held := slices.ContainsFunc(agent, func(a Key) bool { return a.Public == k.Public })
		if statErr == nil || held {
			add(k)
		}
	}
	for _, k := range agent {
		add(k)
	}
	return out
}

// agentKeys asks the agent; it returns none if there is no agent or it does not answer.
func agentKeys(ctx context.Context) []Key {
	if os.Getenv("SSH_AUTH_SOCK") == "" {
		return nil
	}
	res := process.Run(ctx, process.Spec{
		Argv:    []string{"ssh-add", "-L"},
		Limit:   maxKeys * maxKeyFile,
		Timeout: agentTime,
	})
	if !res.OK() {
		return nil
	}
	var out []Key
	for line := range strings.Lines(string(res.Stdout)) {
		if k, ok := publicKey(line); ok && len(out) < maxKeys {
			k.Name = "key::" + k.Public
			out = append(out, k)
		}
	}
	return out
}

// ReadKey reads the public key that name identifies: a file with it or beside it, or the key itself. It fails with
// signing_not_configured.
func (s Settings) ReadKey(name string) (Key, error) {
	if literal(name) {
		if k, ok := publicKey(strings.TrimPrefix(name, "key::")); ok {
			k.Name = "key::" + k.Public
			return k, nil
		}
		return Key{}, noKey(name, "it is not an SSH public key")
	}
	s.Key = name
	path := s.keyFile()
	if !strings.HasSuffix(path, ".pub") {
		path += ".pub"
	}
	f, err := os.Open(path)
	if err != nil {
		return Key{}, noKey(name, "its public half cannot be read: "+err.Error())
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Key{}, noKey(name, path+" is not a file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return Key{}, noKey(name, err.Error())
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	k, ok := publicKey(first)
	if !ok {
		return Key{}, noKey(name, path+" holds no SSH public key")
	}
	k.Name = path
	return k, nil
}

// publicKey parses a line TYPE BASE64 [COMMENT].
func publicKey(line string) (Key, bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return Key{}, false
	}
	public := fields[0] + " " + fields[1]
	kind := strings.TrimPrefix(fields[0], "sk-")
	if !strings.HasPrefix(kind, "ssh-") && !strings.HasPrefix(kind, "ecdsa-") || len(line) > maxKeyFile {
		return Key{}, false
	}
	// It becomes a line of the file of signers: it must contain nothing else.
	if strings.ContainsFunc(public, func(r rune) bool {
		return r < ' ' || r > '~' || strings.ContainsRune("\"'\\#", r)
	}) {
		return Key{}, false
	}
	return Key{Public: public, Comment: strings.Join(fields[2:], " ")}, true
}

func noKey(name, why string) error {
	return &wire.Error{
		Code:    wire.CodeSigningNotConfigured,
		Field:   "user.signingKey",
		Message: fmt.Sprintf("%s cannot sign: %s.", wire.Quoted(text.OneLine(name)), text.OneLine(why)),
		Hint:    "make one with ssh-keygen -t ed25519, or name the file of its public half",
	}
}
