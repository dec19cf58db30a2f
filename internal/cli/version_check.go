// version --check: whether this binary is one that was released.

package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/release"
)

func runVersionCheck(ctx context.Context, f *term.Factory, checksums, signature, signers string) error {
	var files release.Files
	var err error
	if files.Checksums, err = readPart(f, "the checksum file", checksums); err != nil {
		return err
	}
	if signature == "" {
		signature = checksums + ".sig"
	}
	if files.Signature, err = readPart(f, "the signature", signature); err != nil {
		return err
	}
	if signers == "" {
		const name = "gpg.ssh.allowedsignersfile"
		if signers = gitConfig(ctx, f.Env.Dir, name)[name]; signers == "" {
			return term.UsageErrorf("whose signature counts is not known: give --allowed-signers FILE")
		}
		if rest, ok := strings.CutPrefix(signers, "~/"); ok {
			signers = filepath.Join(f.Env.Getenv("HOME"), rest)
		}
	}
	if files.AllowedSigners, err = readPart(f, "the list of allowed signers", signers); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return term.Errorf("io_failed", "cannot find this program's own file: %w", err)
	}
	binary, err := os.Open(self)
	if err != nil {
		return term.Errorf("io_failed", "cannot read this program's own file: %w", err)
	}
	defer func() { _ = binary.Close() }()
	v, err := release.Check(binary, files, f.Now())
	if err != nil {
		return err
	}
	payload := ojson.NewObject("sha256", v.SHA256, "name", v.Name, "signers", v.Signers, "key_id", v.KeyID)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("This binary is %s, signed by %s (%s).\n", v.Name, strings.Join(v.Signers, ", "), v.KeyID)
	})
	return nil
}

// readPart reads one of the files of a check.
func readPart(f *term.Factory, what, name string) ([]byte, error) {
	path, err := f.Path(name)
	if err != nil {
		return nil, err
	}
	data, err := term.Interruptible(f, func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return io.ReadAll(io.LimitReader(file, release.MaxFile+1))
	})
	switch {
	case err != nil:
		return nil, term.Errorf("unreadable_input", "%s cannot be read: %w", what, err)
	case len(data) > release.MaxFile:
		return nil, term.Errorf("unreadable_input", "%s %s has more than %d bytes", what, name, release.MaxFile)
	}
	return data, nil
}
