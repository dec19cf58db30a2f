// Making a signature.

package signing

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxShown is how many bytes of a program's output a message repeats.
const maxShown = 600

// Sign signs a statement's bytes according to the settings. The program may ask for a passphrase at the terminal,
// or for a touch; it is ended, with everything it started except an agent, when ctx ends. It fails with
// signing_not_configured or signing_failed.
func Sign(ctx context.Context, s Settings, payload []byte) (*attest.Envelope, error) {
	if setup := s.setup(); !setup.Ready {
		first := setup.Missing[0]
		return nil, &wire.Error{
			Code:    wire.CodeSigningNotConfigured,
			Message: "signing is not set up: " + first.What,
			Hint:    first.Command,
		}
	}
	env := &attest.Envelope{
		Payload: payload,
		Format:  s.Format,
	}
	message := attest.PAE(attest.PayloadType, payload)
	var err error
	if s.Format == attest.FormatSSH {
		env.Signature, err = s.ssh(ctx, message)
	} else {
		env.Signature, err = s.gpg(ctx, message)
	}
	if err != nil {
		return nil, err
	}
	if attest.FormatOf(env.Signature) != s.Format {
		return nil, failed(s.program(), "it gave no signature of the format "+s.Format)
	}
	env.KeyID = env.Signer()
	return env, nil
}

// ssh signs with ssh-keygen, as git does.
func (s Settings) ssh(ctx context.Context, message []byte) ([]byte, error) {
	key := s.Key
	if key == "" {
		var err error
		if key, err = s.defaultKey(ctx); err != nil {
			return nil, err
		}
	}
	argv := []string{s.SSHProgram, "-Y", "sign", "-n", attest.Namespace, "-f"}
	if !literal(key) {
		return s.run(ctx, append(argv, s.keyFile()), message)
	}
	dir, err := scratch.New("agentxchain-signing-")
	if err != nil {
		return nil, failed(s.SSHProgram, err.Error())
	}
	defer func() { _ = dir.Remove() }()
	file := filepath.Join(dir.Path, "key.pub")
	if err := os.WriteFile(file, []byte(strings.TrimPrefix(key, "key::")+"\n"), 0o600); err != nil {
		return nil, failed(s.SSHProgram, err.Error())
	}
	return s.run(ctx, append(argv, file, "-U"), message)
}

// defaultKey runs gpg.ssh.defaultKeyCommand to get a public key.
func (s Settings) defaultKey(ctx context.Context) (string, error) {
	argv, ok := words(s.DefaultKeyCommand)
	if !ok || len(argv) == 0 {
		return "", failed("gpg.ssh.defaultKeyCommand", "its quotes do not pair")
	}
	out, err := s.run(ctx, argv, nil)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(out), "\n")
	if line = strings.TrimSpace(line); !literal(line) {
		return "", failed(argv[0], "gpg.ssh.defaultKeyCommand gave no public key")
	}
	return line, nil
}

// gpg signs with gpg or gpgsm, as git does.
func (s Settings) gpg(ctx context.Context, message []byte) ([]byte, error) {
	return s.run(ctx, []string{s.program(), "--status-fd=2", "-bsau", s.gpgKey()}, message)
}

// run runs a program of the person's and returns its output.
func (s Settings) run(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	spec := process.Spec{
		Argv:           argv,
		Dir:            s.Dir,
		Stdin:          stdin,
		Limit:          attest.MaxSignature,
		KillOnOverflow: true,
		KeepDetached:   true, // an agent that it starts belongs to the person
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		spec.Terminal = tty
		defer func() { _ = tty.Close() }()
	}
	res := process.Run(ctx, spec)
	switch {
	case res.StartErr != nil:
		return nil, failed(argv[0], res.StartErr.Error())
	case res.Canceled:
		return nil, failed(argv[0], "it was ended before it had signed: "+context.Cause(ctx).Error())
	case res.Overflow:
		return nil, failed(argv[0], fmt.Sprintf("it said more than %d bytes", attest.MaxSignature))
	case !res.OK():
		return nil, failed(argv[0], said(res.Stderr))
	}
	return bytes.ReplaceAll(res.Stdout, []byte("\r\n"), []byte("\n")), nil
}

// said returns a program's own message about its failure, on one line, without gpg's status lines.
func said(stderr []byte) string {
	var kept []string
	for line := range strings.Lines(string(stderr)) {
		if !strings.HasPrefix(line, "[GNUPG:]") {
			kept = append(kept, line)
		}
	}
	if all := text.OneLine(text.Clip(strings.Join(kept, " "), maxShown)); all != "" {
		return all
	}
	return "it did not say why"
}

func failed(program, why string) error {
	hint := "git agentxchain doctor --signing sets up a key to sign with"
	switch lower := strings.ToLower(why); {
	case strings.Contains(lower, "passphrase"):
		hint = "the key has a passphrase: put it into the agent first (ssh-add), or sign in a terminal"
	case strings.Contains(lower, "agent socket"), strings.Contains(lower, "no private key found"):
		hint = "the private key is neither beside the public one nor in an SSH agent that this terminal reaches: ssh-add -l " +
			"lists those that are; " + hint
	case strings.Contains(lower, "unusable secret key"):
		hint = "the key has expired or is revoked: gpg --list-keys shows it; an expired one can be extended " +
			"(gpg --quick-set-expire), and " + attest.OpenPGPSignersPath + " needs its new export"
	case strings.Contains(lower, "inappropriate ioctl"), strings.Contains(lower, "no pinentry"):
		hint = "gpg has no terminal to ask for the passphrase in: in one, export GPG_TTY=$(tty), then again"
	}
	return &wire.Error{
		Code:    wire.CodeSigningFailed,
		Message: fmt.Sprintf("%s did not sign: %s", text.OneLine(program), text.OneLine(why)),
		Hint:    hint,
	}
}

// words splits a command into its arguments as git does: white space separates words outside quotes, and a
// backslash quotes the next byte except in single quotes.
func words(s string) (argv []string, ok bool) {
	var b strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'':
			if i++; i == len(s) {
				return nil, false
			}
			b.WriteByte(s[i])
			begun = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				argv = append(argv, b.String())
			}
			b.Reset()
			begun = false
		default:
			b.WriteByte(c)
			begun = true
		}
	}
	if begun {
		argv = append(argv, b.String())
	}
	return argv, quote == 0
}
