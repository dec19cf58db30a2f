// git's configuration of signing, and what is missing from it.

package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
)

// Pattern is the pattern for git config --null --get-regexp whose answer From parses.
const Pattern = `^(user\.(name|email|signingkey)|gpg\..*)$`

// defaultGPG is the OpenPGP program if none is configured.
const defaultGPG = "gpg"

// Settings says how the person signs, by the names of git-config(1).
type Settings struct {
	Format            string // gpg.format; "openpgp" when unset, as in git
	Key               string // user.signingKey
	Program           string // gpg.openpgp.program or gpg.program
	SSHProgram        string // gpg.ssh.program
	X509Program       string // gpg.x509.program
	DefaultKeyCommand string // gpg.ssh.defaultKeyCommand
	Committer         string // "Name <address>": OpenPGP and X.509 look for its key if Key is ""
	Dir               string // where programs run and relative names start; "" for here
}

// From parses git's answer; nil has no settings. The last value of each key wins.
func From(answer []byte) Settings {
	s := Settings{
		Format:      attest.FormatOpenPGP,
		Program:     defaultGPG,
		SSHProgram:  "ssh-keygen",
		X509Program: "gpgsm",
	}
	var name, mail string
	for entry := range strings.SplitSeq(string(answer), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		switch key {
		case "gpg.format":
			s.Format = value
		case "user.signingkey":
			s.Key = value
		case "gpg.program", "gpg.openpgp.program":
			s.Program = home(value)
		case "gpg.ssh.program":
			s.SSHProgram = home(value)
		case "gpg.x509.program":
			s.X509Program = home(value)
		case "gpg.ssh.defaultkeycommand":
			s.DefaultKeyCommand = value
		case "user.name":
			name = value
		case "user.email":
			mail = value
		}
	}
	if mail != "" {
		s.Committer = strings.TrimSpace(name + " <" + mail + ">")
	}
	return s
}

// home replaces a leading ~/ in a path from git's configuration.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if dir, err := os.UserHomeDir(); ok && err == nil {
		return filepath.Join(dir, rest)
	}
	return path
}

// Setup says whether signing is set up.
type Setup struct {
	Ready   bool
	Missing []Lack
}

// Lack is one thing to be done before signing works.
type Lack struct {
	What    string // a sentence without a full stop
	Command string // the command that sets it up
}

// setup says what is missing for signing on this machine. It runs nothing: only signing shows whether a key is
// usable.
func (s Settings) setup() Setup {
	var out Setup
	lack := func(command, format string, args ...any) {
		out.Missing = append(out.Missing, Lack{
			What:    fmt.Sprintf(format, args...),
			Command: command,
		})
	}
	program := s.program()
	switch {
	case program == "":
		lack("git config --global gpg.format ssh", "gpg.format is %q, and git does not sign with that", s.Format)
		return out
	case s.lookup(program) != nil:
		lack("git config --global "+s.programKey()+" PATH", "the program %q is not there", program)
	}
	switch {
	case s.Format == attest.FormatSSH && s.Key == "" && s.DefaultKeyCommand == "":
		lack("git config --global user.signingKey ~/.ssh/id_ed25519.pub", "no key to sign with is named")
	case s.Format == attest.FormatSSH && s.Key != "" && !literal(s.Key):
		if _, err := os.Stat(s.keyFile()); err != nil {
			lack("git config --global user.signingKey ~/.ssh/id_ed25519.pub", "the key %q is not there", s.Key)
		}
	case s.Format != attest.FormatSSH && s.Key == "" && s.Committer == "":
		lack("git config --global user.signingKey KEYID", "no key to sign with is named")
	}
	out.Ready = len(out.Missing) == 0
	return out
}

// Lacks returns what Setup finds missing, and a key that gpg does not have or cannot sign with. It asks only the default gpg: other
// programs come from a configuration, and a check must not start them.
func (s Settings) Lacks(ctx context.Context) []Lack {
	missing := s.setup().Missing
	if len(missing) > 0 || s.Format != attest.FormatOpenPGP || s.Program != defaultGPG {
		return missing
	}
	ring := cmp.Or(os.Getenv("GNUPGHOME"), home("~/.gnupg"))
	_, err := os.Stat(ring)
	if err == nil {
		res := process.Run(ctx, process.Spec{
			Argv:    []string{defaultGPG, "--batch", "--no-tty", "--with-colons", "--list-secret-keys", "--", s.gpgKey()},
			Limit:   maxKeys * maxKeyFile,
			Timeout: agentTime,
		})
		switch {
		case res.Exit == nil:
			return nil
		case *res.Exit == 0 && canSign(string(res.Stdout)):
			return nil
		case *res.Exit == 0:
			return []Lack{{
				What:    fmt.Sprintf("the key %q of gpg has expired, is revoked, or may not sign", s.gpgKey()),
				Command: "git config --global user.signingKey KEYID",
			}}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []Lack{{
		What:    fmt.Sprintf("gpg has no secret key for %q", s.gpgKey()),
		Command: "git config --global user.signingKey KEYID",
	}}
}

// canSign reports whether a list of gpg has a secret key that can sign now: it marks such a key with a capital S.
func canSign(list string) bool {
	for line := range strings.Lines(list) {
		if f := strings.Split(line, ":"); f[0] == "sec" && len(f) > 11 && strings.Contains(f[11], "S") {
			return true
		}
	}
	return false
}

// gpgKey returns the key for gpg and gpgsm.
func (s Settings) gpgKey() string { return cmp.Or(s.Key, s.Committer) }

func (s Settings) lookup(program string) error {
	_, err := process.Find(program, s.Dir, os.Environ())
	return err
}

// program returns the signing program, "" for a format unknown to git.
func (s Settings) program() string {
	switch s.Format {
	case attest.FormatSSH:
		return s.SSHProgram
	case attest.FormatOpenPGP:
		return s.Program
	case attest.FormatX509:
		return s.X509Program
	}
	return ""
}

func (s Settings) programKey() string { return "gpg." + s.Format + ".program" }

// keyFile returns the file that user.signingKey names.
func (s Settings) keyFile() string {
	path := home(s.Key)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	return path
}

// literal reports whether a value of user.signingKey is a public key and not a file.
func literal(key string) bool {
	return strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-")
}
