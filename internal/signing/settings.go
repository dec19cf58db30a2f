// What git's configuration says about signing, and what it lacks.

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

// Pattern is what to ask git for: the answer of git config --null --get-regexp with it
// is what From takes.
const Pattern = `^(user\.(name|email|signingkey)|gpg\..*)$`

// defaultGPG is the program of OpenPGP where no configuration names one.
const defaultGPG = "gpg"

// Settings is how the person signs, by the names of git-config(1).
type Settings struct {
	Format            string // gpg.format; "openpgp" where it is not set, as in git
	Key               string // user.signingKey
	Program           string // gpg.openpgp.program or gpg.program
	SSHProgram        string // gpg.ssh.program
	X509Program       string // gpg.x509.program
	DefaultKeyCommand string // gpg.ssh.defaultKeyCommand
	AllowedSigners    string // gpg.ssh.allowedSignersFile, for git's own verification
	Committer         string // "Name <address>": OpenPGP and X.509 look for its key where Key is ""
	Dir               string // where programs run and relative names begin; "" for here
}

// From reads git's answer; nil is one without a setting. The last value of each counts.
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
		case "gpg.ssh.allowedsignersfile":
			s.AllowedSigners = home(value)
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

// home replaces the ~/ that a path of git's configuration may begin with.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if dir, err := os.UserHomeDir(); ok && err == nil {
		return filepath.Join(dir, rest)
	}
	return path
}

// Setup is whether signing is set up.
type Setup struct {
	Ready   bool
	Missing []Lack
}

// Lack is one thing that has to be done before signing works.
type Lack struct {
	What    string // a sentence without a full stop
	Command string // what sets it up
}

// Setup says what signing lacks on this machine. Nothing is run: that a key can be used
// only its use shows.
func (s Settings) Setup() Setup {
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

// Lacks is what Setup finds missing, and a key that gpg does not have. It asks the gpg of this machine alone: another
// program is named by a configuration, and looking may not start what that names.
func (s Settings) Lacks(ctx context.Context) []Lack {
	missing := s.Setup().Missing
	if len(missing) > 0 || s.Format != attest.FormatOpenPGP || s.Program != defaultGPG {
		return missing
	}
	ring := cmp.Or(os.Getenv("GNUPGHOME"), home("~/.gnupg"))
	_, err := os.Stat(ring)
	if err == nil {
		res := process.Run(ctx, process.Spec{
			Argv:    []string{defaultGPG, "--batch", "--no-tty", "--list-secret-keys", "--", s.gpgKey()},
			Limit:   maxKeys * maxKeyFile,
			Timeout: agentTime,
		})
		if res.Exit == nil || *res.Exit == 0 {
			return nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []Lack{{
		What:    fmt.Sprintf("gpg has no secret key for %q", s.gpgKey()),
		Command: "git config --global user.signingKey KEYID",
	}}
}

// gpgKey is how gpg and gpgsm are told which key signs.
func (s Settings) gpgKey() string { return cmp.Or(s.Key, s.Committer) }

func (s Settings) lookup(program string) error {
	_, err := process.Find(program, s.Dir, os.Environ())
	return err
}

// program is the one that signs, "" for a format that git does not have.
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

// keyFile is the file user.signingKey names.
func (s Settings) keyFile() string {
	path := home(s.Key)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	return path
}

// literal reports a value of user.signingKey that is a public key and no file.
func literal(key string) bool {
	return strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-")
}
