// doctor --signing: which key, and whether it may speak for the person.

package cli

import (
	"cmp"
	"context"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/runner/doctor"
)

type signingOptions struct {
	key       string // "" asks
	addSigner bool   // false asks at a terminal
}

// runDoctorSigning sets up signing in a project, or in the workspace of an initiative.
func runDoctorSigning(ctx context.Context, f *term.Factory, opt signingOptions) error {
	if coordinator.IsWorkspace(f.Dir()) {
		return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
			place, err := co.SigningPlace(ctx)
			if err != nil {
				return err
			}
			return setUpSigning(ctx, f, place, opt)
		})
	}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	return setUpSigning(ctx, f, doctor.SigningIn(ctx, r), opt)
}

func setUpSigning(ctx context.Context, f *term.Factory, place *doctor.SigningPlace, opt signingOptions) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	setup := doctor.SigningSetup{
		Key:       opt.key,
		Dir:       dir,
		AddSigner: opt.addSigner,
	}
	if setup.Key == "" {
		if setup.Key, err = askKey(ctx, f, place); err != nil {
			return err
		}
	}
	if !setup.AddSigner && f.Interactive() {
		setup.AddSigner, err = f.Prompt.Confirm(ctx,
			"Let this key speak for your address in "+attest.AllowedSignersPath+"?", "--add-signer", true)
		if err != nil {
			return err
		}
	}
	done, err := place.SetUp(ctx, setup)
	if err != nil {
		return err
	}
	payload := ojson.NewObject(
		"key", done.Key.Name,
		"key_id", done.KeyID,
		"principal", done.Email,
		"listed", done.Listed,
		"added", done.Added,
		"protected_branch", ojson.OrNull(done.Protected),
	)
	f.Out.Emit(payload, func(p *term.Printer) { printSigning(p, done) })
	return nil
}

// askKey asks which key to use, the best one first. Without a terminal it is the one that git signs
// with.
func askKey(ctx context.Context, f *term.Factory, place *doctor.SigningPlace) (string, error) {
	if !f.Interactive() {
		if set, ok := place.SetKey(ctx); ok {
			return set, nil
		}
		return "", term.Errorf("prompt_unavailable",
			"Which key to sign with needs an answer and this is not a terminal.").
			WithHint("git agentxchain doctor --signing --key FILE, or by hand: " +
				"git config gpg.format ssh && git config user.signingKey ~/.ssh/id_ed25519.pub")
	}
	keys := place.Keys(ctx)
	for i, k := range keys {
		f.Out.Notice("  %d  %s", i+1, term.OneLine(k.Name+"  "+k.Comment))
	}
	question := "Sign with which key? A number or a file [1]:"
	if len(keys) == 0 {
		f.Out.Notice("No SSH key was found in ~/.ssh or in the agent; ssh-keygen -t ed25519 makes one.")
		question = "Sign with which key? A file:"
	}
	for {
		answer, err := f.Prompt.Line(ctx, question, "--key")
		if err != nil {
			return "", err
		}
		if len(keys) > 0 {
			answer = cmp.Or(answer, "1")
		}
		n, err := strconv.Atoi(answer)
		switch {
		case err == nil && n >= 1 && n <= len(keys):
			return keys[n-1].Name, nil
		case err != nil && answer != "":
			return answer, nil
		}
		f.Out.Notice("Answer with a number of the list or the name of a file.")
	}
}

func printSigning(p *term.Printer, done *doctor.SigningDone) {
	p.Printf("%s\n", p.Green("The test signature is valid; git signs with this key in this repository."))
	p.Field("Key", "%s", term.OneLine(done.Key.Name))
	p.Field("Known as", "%s", term.OneLine(done.KeyID))
	file := attest.AllowedSignersPath
	switch {
	case done.Added:
		p.Field("Speaks for", "%s, by a new line of %s", term.OneLine(done.Email), file)
	case done.Listed:
		p.Field("Speaks for", "%s, as %s says already", term.OneLine(done.Email), file)
	default:
		p.Field("Speaks for", "%s", p.Yellow("no address: "+file+" does not list it"))
	}
	p.Println()
	switch {
	case !done.Listed:
		p.Println("Next: git agentxchain doctor --signing --add-signer")
	case done.Protected != "":
		p.Printf("Next: commit %s and bring it onto %s; the signers of that branch count.\n", file,
			term.OneLine(done.Protected))
	default:
		p.Printf("Next: git add %s && git commit; it counts for runs and initiatives that begin after that.\n", file)
	}
}
