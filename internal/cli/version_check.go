// version --check: whether this binary is a released one.

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/release"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func runVersionCheck(ctx context.Context, f *term.Factory, checksums, signature, signers string) error {
	var files release.Files
	var err error
	if files.Checksums, err = shared.ReadInput(f, "the checksum file", checksums, release.MaxFile); err != nil {
		return err
	}
	if signature == "" {
		signature = checksums + ".sig"
	}
	if files.Signature, err = shared.ReadInput(f, "the signature", signature, release.MaxFile); err != nil {
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
	if files.AllowedSigners, err = shared.ReadInput(f, "the list of allowed signers", signers,
		release.MaxFile); err != nil {
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
	var refusal *wire.Error
	if errors.As(err, &refusal) && strings.HasPrefix(refusal.Code, "signer_") { // not the signers of a project
		refusal.Hint = "take the line of who signs releases from the project, not from the release; if it is there, do not " +
			"trust the binary"
	}
	if err != nil {
		return err
	}
	payload := ojson.NewObject("sha256", v.SHA256, "name", v.Name, "signers", v.Signers, "key_id", v.KeyID)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("This binary is %s, signed by %s (%s).\n", v.Name, strings.Join(v.Signers, ", "), v.KeyID)
	})
	return nil
}
