// Setting up signing: which key, and the line that lets it speak for the person.

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/signing"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// SigningKey is an SSH key to sign with.
type SigningKey = signing.Key

// SigningSetup says how to set up signing.
type SigningSetup struct {
	Key       string // file of an SSH key, or key::TYPE BASE64 of a key in the agent
	Dir       string // base of a relative file
	AddSigner bool   // let the key speak for user.email: a line of .agentxchain/allowed_signers
}

// SigningDone is the outcome of SetUpSigning.
type SigningDone struct {
	Key       SigningKey
	KeyID     string // as statements name it
	Email     string // whom the key may speak for
	Listed    bool   // the file of signers lists it
	Added     bool   // by a line that was added now
	Protected string // branch whose file of signers counts, "" where that of the run's beginning does
}

// SigningPlace is where signing is set up: the project of a run, or the workspace of an initiative.
type SigningPlace struct {
	Dir       string
	Repo      *runner.Repository
	Asker     evidence.Actor // InsideTurn, InsideWhy and Email of the asker
	Now       time.Time
	Protected string // branch whose files of signers count, "" for none
}

// SigningIn returns the project of a runner as a SigningPlace.
func SigningIn(ctx context.Context, r *runner.Runner) *SigningPlace {
	in := r.Asker()
	out := &SigningPlace{
		Dir:   r.Record().Dir(),
		Repo:  r.Record().Repository(),
		Asker: evidence.Actor{InsideTurn: in.Turn, InsideWhy: in.Why},
		Now:   r.Now(),
	}
	_, out.Asker.Email = r.Identity(ctx)
	if cfg := r.CheckDocuments().Config; cfg != nil {
		out.Protected = cfg.ProtectedBranch()
	}
	return out
}

// Keys lists the keys that the person can sign with, the best first.
func (p *SigningPlace) Keys(ctx context.Context) []SigningKey {
	return signing.Keys(ctx, consent.Settings(ctx, p.Dir))
}

// SetKey returns the SSH key that a person has set for git to sign with here.
func (p *SigningPlace) SetKey(ctx context.Context) (name string, ok bool) {
	s := consent.Settings(ctx, p.Dir)
	if s.Format != attest.FormatSSH || s.Key == "" {
		return "", false
	}
	key, err := s.ReadKey(s.Key)
	return key.Name, err == nil
}

// SetUp makes git sign with an SSH key in this repository, once a test signature with it was valid,
// and lists the key for the person on request. It is refused inside a dispatched turn.
//
// Errors: inside_dispatched_turn, signing_not_configured, signing_failed, those of a
// signature that does not count, signers_invalid, invalid_argument.
func (p *SigningPlace) SetUp(ctx context.Context, opt SigningSetup) (*SigningDone, error) {
	if refusal := protocol.CheckApprover(p.Asker); refusal != nil {
		return nil, refusal
	}
	s := consent.Settings(ctx, p.Dir)
	from := s
	from.Dir = opt.Dir
	key, err := from.ReadKey(opt.Key)
	if err != nil {
		return nil, err
	}
	out := &SigningDone{Key: key, Protected: p.Protected}
	if out.Email, err = signerEmail(p.Asker.Email); err != nil {
		return nil, err
	}
	s.Format, s.Key = attest.FormatSSH, key.Name
	// No statement reads like this: the signature is good for nothing else.
	env, err := signing.Sign(ctx, s, fmt.Appendf(nil, "a test signature of %s", out.Email))
	if err != nil {
		return nil, err
	}
	out.KeyID = env.KeyID
	files, err := signerFiles(p.Dir)
	if err != nil {
		return nil, err
	}
	refusal := speaks(files, env, out.Email, p.Now)
	if refusal != nil && opt.AddSigner {
		files[attest.AllowedSignersPath] = listSigner(files[attest.AllowedSignersPath], out.Email, key.Public)
		if refusal := speaks(files, env, out.Email, p.Now); refusal != nil {
			return nil, refusal
		}
		if err := writeSigners(p.Dir, files[attest.AllowedSignersPath]); err != nil {
			return nil, err
		}
		out.Added, refusal = true, nil
	}
	out.Listed = refusal == nil
	for _, set := range [][2]string{{"gpg.format", attest.FormatSSH}, {"user.signingKey", key.Name}} {
		if err := p.Repo.DropLocalSetting(ctx, set[0]); err != nil {
			return nil, err
		}
		if err := p.Repo.AddLocalSetting(ctx, set[0], set[1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// signerEmail returns the address in the person's statements. It becomes a pattern in the file of
// signers, so it must not contain special characters of these.
func signerEmail(email string) (string, error) {
	plain := !strings.ContainsFunc(email, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`*?!,"'\#`, c)
	})
	if !plain || !strings.Contains(email, "@") || email == wire.NoEmail {
		return "", &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "user.email",
			Message: fmt.Sprintf("A key cannot speak for %s.", wire.Quoted(email)),
			Hint:    "git config user.email YOU@EXAMPLE.ORG",
		}
	}
	return email, nil
}

// signerFiles reads the files of signers of the work tree.
func signerFiles(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range wire.SignerFiles() {
		data, err := projectfile.Read(dir, p, projectfile.MaxGate)
		if err != nil {
			return nil, err
		}
		if data != nil {
			out[p] = data
		}
	}
	return out, nil
}

// speaks returns why the signature does not count for the person, nil when it does.
func speaks(files map[string][]byte, env *attest.Envelope, email string, at time.Time) *wire.Error {
	signers, problems := attest.ParseSigners(files)
	if len(problems) > 0 {
		return &wire.Error{
			Code:     wire.CodeSignersInvalid,
			Field:    problems[0].Field,
			Problems: problems,
			Message:  "The files of signers cannot be read: " + problems.Join(),
			Hint:     "correct them, then: git agentxchain doctor --signing",
		}
	}
	sig, refusal := signers.Verify(env, at)
	if refusal != nil {
		return refusal
	}
	return sig.SpeaksFor(email)
}

// listSigner adds a line to the file of signers.
func listSigner(data []byte, email, public string) []byte {
	if n := len(data); n > 0 && data[n-1] != '\n' {
		data = append(data, '\n')
	}
	return fmt.Appendf(data, "%s namespaces=%q %s\n", email, attest.Namespace, public)
}

func writeSigners(dir string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(attest.AllowedSignersPath); err == nil && !info.Mode().IsRegular() {
		return projectfile.Unreadable(attest.AllowedSignersPath, errors.New("not a regular file"))
	}
	if err := root.MkdirAll(path.Dir(attest.AllowedSignersPath), 0o777); err != nil {
		return err
	}
	return durable.WriteFileRoot(root, attest.AllowedSignersPath, data, 0o666)
}

// wantsSignatures lists what authority wants signatures for: gates, and the acts that overrule the
// record.
func wantsSignatures(cfg *config.Config) []string {
	var out []string
	if cfg.Authority == nil {
		return nil
	}
	for gate, g := range cfg.Authority.Gates.All() {
		if g.Signed {
			out = append(out, gate)
		}
	}
	if a := cfg.Authority.Acts; a != nil && a.Signed {
		out = append(out, "acts")
	}
	return out
}

// agreeTogether lists what several people agree to at once, with signed statements, whether or not authority wants
// signatures: acts, and a change of authority, which needs the approvers of every gate.
func agreeTogether(cfg *config.Config) []string {
	var out []string
	if cfg.Authority == nil {
		return nil
	}
	if r := cfg.ActRule(); r != nil && r.Threshold > 1 {
		out = append(out, "acts such as unblock")
	}
	for gate := range cfg.Authority.Gates.All() {
		if cfg.GateRule(gate).Threshold > 1 {
			return append(out, "a change of authority during a run")
		}
	}
	return out
}

// signs reports whether authority wants the signature of a person.
func signs(cfg *config.Config, email string) bool {
	rules := []*config.GateRule{cfg.ActRule()}
	for gate := range cfg.Authority.Gates.All() {
		rules = append(rules, cfg.GateRule(gate))
	}
	return slices.ContainsFunc(rules, func(r *config.GateRule) bool {
		return r != nil && r.Signed && agreement.Names(r, email)
	})
}

// keySpeaks returns why the SSH key that git signs with does not speak for a person whose signature authority wants,
// nil when it does, when their signature is not wanted, and for keys of other formats.
func (d *doctor) keySpeaks(ctx context.Context, cfg *config.Config, signers *attest.Signers) *wire.Error {
	_, email := d.r.Identity(ctx)
	if !signs(cfg, email) {
		return nil
	}
	s := consent.Settings(ctx, d.rec.Dir())
	if s.Format != attest.FormatSSH || s.Key == "" {
		return nil
	}
	key, err := s.ReadKey(s.Key)
	if err != nil {
		return nil // whether it exists was checked before
	}
	sig, refusal := signers.SSHKey(key.Public, d.r.Now())
	if refusal == nil {
		refusal = sig.SpeaksFor(email)
	}
	return refusal
}

// signersSince reports committed files of signers that do not count in the run under way: a new key decides nothing
// yet.
func (d *doctor) signersSince(ctx context.Context, v *runner.View) {
	st, err := d.r.ConfigState(ctx)
	if err != nil || v.Config == nil || v.Config.Authority == nil {
		return
	}
	for _, c := range st.Changes {
		if slices.Contains(wire.SignerFiles(), c.Pointer) {
			d.add("signing", LevelWarning, "git agentxchain config adopt --sign, by those who decide now; if none of their "+
				"keys is left: git agentxchain abandon --reason TEXT, and begin another run",
				"%s lists other keys than those that count in this run; to see them: git agentxchain config diff", c.Pointer)
		}
	}
}

// signing reports whether this person could sign what authority wants signed.
func (d *doctor) signing(ctx context.Context, cfg *config.Config) {
	if cfg == nil {
		return
	}
	wanted := wantsSignatures(cfg)
	if len(wanted) == 0 {
		if several := agreeTogether(cfg); len(several) > 0 {
			if files, err := signerFiles(d.r.Record().Dir()); err == nil && len(files) == 0 {
				d.add("signing", LevelWarning,
					"git agentxchain doctor --signing --add-signer, and commit that before a run begins",
					"%s needs several people at once, who sign statements, and no file says whose count (%s)",
					strings.Join(several, ", and "), attest.AllowedSignersPath)
			}
		}
		return
	}
	if lacks := consent.Settings(ctx, d.rec.Dir()).Lacks(ctx); len(lacks) > 0 {
		if _, email := d.r.Identity(ctx); email != "" && !signs(cfg, email) {
			d.ok("signing", "authority requires signatures (%s), but not that of %s", wire.ListSome(wanted, 1), email)
			return
		}
		d.add("signing", LevelWarning, "git agentxchain doctor --signing, or: "+lacks[0].Command,
			"authority requires signatures (%s), and %s", wire.ListSome(wanted, 1), lacks[0].What)
		return
	}
	files, err := signerFiles(d.r.Record().Dir())
	switch {
	case err != nil:
		d.failed("signing", err, "correct "+attest.AllowedSignersPath)
	case len(files) == 0:
		d.add("signing", LevelWarning, "git agentxchain doctor --signing",
			"authority requires signatures (%s), and no file says whose count (%s)", wire.ListSome(wanted, 1),
			attest.AllowedSignersPath)
	default:
		signers, problems := attest.ParseSigners(files)
		if len(problems) > 0 {
			d.add("signing", LevelWarning, "correct "+problems[0].Field,
				"a file of signers cannot be understood: %s", strings.TrimSuffix(problems[0].Message, "."))
			return
		}
		if why := d.keySpeaks(ctx, cfg, signers); why != nil {
			d.add("signing", LevelWarning, "git agentxchain doctor --signing --add-signer",
				"what you sign with does not count: %s", strings.TrimSuffix(why.Message, "."))
			return
		}
		d.ok("signing", "git is set up to sign, for %s", wire.ListSome(wanted, 1))
	}
}
