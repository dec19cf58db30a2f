// Verifies the approvals of an export artifact, which has the ledgers, the statements and the files of signers, but
// no operations.

package approval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bounds of what is read from an artifact.
const (
	maxLedgerRead  = 256 << 20 // bytes
	maxSignerSets  = 64        // combinations of the files of signers to try
	maxSignersRead = 1 << 20   // bytes of each
)

// VerifyExported judges what the files of a run say was approved. An artifact itself says who may sign: each
// statement is checked against its files of signers, in any combination, and a note says so. Codes: invalid_state,
// invalid_argument where a ledger is too long.
func VerifyExported(files fs.FS) (*Report, error) {
	data, err := readBounded(files, string(wire.DocState), maxLedgerRead)
	if err != nil {
		return nil, err
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
	}
	x := &exported{
		verifier: verifier{
			report: &Report{Run: st.Run()},
			proven: map[string]*run.Vote{},
			failed: map[string]bool{},
		},
		files:  files,
		state:  st,
		nonces: map[string]string{},
	}
	if data, err := readBounded(files, wire.ConfigPath, maxLedgerRead); err == nil {
		x.cfg = config.DecodeGoverning(data)
	}
	if err := x.readSigners(); err != nil {
		return nil, err
	}
	ledger, err := readBounded(files, wire.LedgerDecisions.Path(), maxLedgerRead)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := map[string]bool{}
	var said []*Saying
	for line := range strings.Lines(string(ledger)) {
		row, err := ojson.DecodeObject([]byte(line))
		if err != nil {
			continue
		}
		if isApproval(row) {
			x.row(row)
		}
		said = append(said, SayingsOf(row, known)...)
	}
	for _, s := range said {
		x.report.Sayings = append(x.report.Sayings, Judged{s, x.stands(s, false)})
	}
	if x.report.Statements > 0 {
		x.report.Findings = append(x.report.Findings, Finding{
			Code:    FindSignersUnproven,
			Note:    true,
			Message: "an artifact says itself who may sign; the run's ref or its bundle, in a clone, prove it",
		})
	}
	return x.report, nil
}

// exported judges the rows of an artifact.
type exported struct {
	verifier
	files  fs.FS
	state  *run.State
	cfg    *config.Config // nil where it cannot be read
	sets   []*attest.Signers
	nonces map[string]string // run and nonce -> statement that used it
}

func readBounded(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   name,
			Message: fmt.Sprintf("%s has more than %d bytes and is not read.", name, limit),
		}
	}
	return data, err
}

// readSigners builds the sets of signers that the kept files can form.
func (x *exported) readSigners() error {
	root := wire.ApprovalsDir + "/signers"
	versions := map[string][][]byte{}
	err := fs.WalkDir(x.files, root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == root {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		_, kept, ok := strings.Cut(strings.TrimPrefix(name, root+"/"), "/")
		if kept = ".agentxchain/" + kept; !ok || !slices.Contains(wire.SignerFiles(), kept) {
			return nil
		}
		data, err := readBounded(x.files, name, maxSignersRead)
		if err != nil {
			return err
		}
		if path.Dir(name) != path.Dir(
			agreement.SignersPath(evidence.FileBlob{Path: kept, Blob: evidence.NewBlob(data)})) {
			x.report.Findings = append(x.report.Findings, Finding{
				Code:    FindBaseDiffers,
				Message: name + " has another digest than its name says",
			})
			return nil
		}
		versions[kept] = append(versions[kept], data)
		return nil
	})
	if err != nil {
		return err
	}
	sets := []map[string][]byte{{}}
	for _, p := range wire.SignerFiles() {
		var more []map[string][]byte
		for _, set := range sets {
			for _, data := range versions[p] {
				with := map[string][]byte{p: data}
				maps.Copy(with, set)
				more = append(more, with)
			}
		}
		// The list of revoked signers may never be left out; keys of another kind may have been added later.
		if p != attest.RevokedSignersPath || len(more) == 0 {
			more = append(more, sets...)
		}
		sets = more[:min(len(more), maxSignerSets)]
	}
	for _, set := range sets {
		s, _ := attest.ParseSigners(set)
		x.sets = append(x.sets, s)
	}
	return nil
}

func (x *exported) fail(row *ojson.Object, v *run.Vote, code, message string) {
	if v.Statement != "" {
		x.failed[v.Statement] = true
	}
	x.report.Findings = append(x.report.Findings, Finding{
		Code:      code,
		Gate:      row.String("gate_id"),
		Principal: v.Principal,
		Statement: v.Statement,
		Message:   message,
	})
}

// row judges one approval: each statement that its votes name, and the number of votes.
func (x *exported) row(row *ojson.Object) {
	people, keys := map[string]bool{}, map[string]bool{}
	var rule *config.GateRule
	if x.cfg != nil {
		rule = x.cfg.GateRule(row.String("gate_id"))
	}
	for _, v := range votesOf(row) {
		switch {
		case v.Statement != "":
			if x.proven[v.Statement] == nil && !x.failed[v.Statement] {
				x.statement(row, v)
			}
		case rule != nil && rule.Signed:
			x.fail(row, v, agreement.CodeSignatureRequired,
				"the approval by "+v.Principal+" lacks the signature that the rule of gate "+
					wire.Quoted(row.String("gate_id"))+" wants")
			continue
		}
		if !x.failed[v.Statement] && !(v.Key != "" && keys[v.Key]) {
			people[strings.ToLower(v.Principal)] = true
			keys[v.Key] = true
		}
	}
	need, _ := row.Int("votes_needed")
	if rule != nil && row.Has("votes") {
		need = max(need, rule.Threshold)
	}
	if row.String("type") == "human_approval" && len(people) < need {
		x.report.Findings = append(x.report.Findings, Finding{
			Code: FindThreshold,
			Gate: row.String("gate_id"),
			Message: fmt.Sprintf("gate %s passed by %d of %d people whose yes counts",
				wire.Quoted(row.String("gate_id")), len(people), need),
		})
	}
}

func (x *exported) statement(row *ojson.Object, v *run.Vote) {
	digest := strings.TrimPrefix(v.Statement, "sha256:")
	data, err := readBounded(x.files, agreement.StatementPath(digest), agreement.MaxStatementBytes)
	if err != nil || evidence.NewBlob(data).Digest != digest {
		x.fail(row, v, FindStatementMissing, "the artifact does not hold the statement of "+v.Principal)
		return
	}
	x.report.Statements++
	env, refusal := attest.DecodeDSSE(data)
	if refusal != nil {
		x.fail(row, v, refusal.Code, refusal.Message)
		return
	}
	st, refusal := attest.DecodeStatement(env.Payload)
	if refusal != nil {
		x.fail(row, v, refusal.Code, refusal.Message)
		return
	}
	at, _ := wire.ParseTime(row.String("timestamp"))
	sig, refusal := x.signed(env, st, at)
	if refusal != nil {
		x.fail(row, v, refusal.Code, refusal.Message)
		return
	}
	x.proven[v.Statement] = v
	used := st.Run + "\x00" + st.Nonce
	switch {
	case x.nonces[used] != "":
		x.fail(row, v, agreement.CodeStatementReplayed, "its nonce was used before in run "+st.Run)
	case st.Run == x.state.Run() && !slices.Contains(x.state.SpentNonces, st.Nonce):
		x.fail(row, v, agreement.CodeStatementReplayed, "the run's state does not know its nonce")
	case st.Decision != attest.Approve || st.Gate != row.String("gate_id") || st.GateType != row.String("gate_type") ||
		st.Phase != row.String("from_phase") || st.To != row.String("to_phase"):
		x.fail(row, v, agreement.CodeStatementReplayed, fmt.Sprintf("it says %s to gate %s of phase %s", st.Decision,
			wire.Quoted(st.Gate), wire.Quoted(st.Phase)))
	case !agreement.SamePerson(st.Principal, v.Principal) || sig.Key != v.Key:
		x.fail(row, v, agreement.CodeStatementMismatch,
			"the statement counted for "+v.Principal+" is by "+st.Principal)
	case !st.ExpiresAt.After(at):
		x.fail(row, v, agreement.CodeStatementExpired, "it expired at "+wire.FormatTime(st.ExpiresAt))
	case st.IssuedAt.After(at.Add(agreement.MaxSkew)):
		x.fail(row, v, agreement.CodeStatementMismatch, "it was made after the approval")
	}
	x.nonces[used] = v.Statement
	for _, f := range st.Evidence {
		if row.Object("evidence").String(f.Path) != "sha256:"+f.SHA256 {
			x.fail(row, v, agreement.CodeStatementMismatch, f.Path+" was approved with other contents")
		}
	}
}

// signed checks a statement against the sets of signers: it returns the first that allows the signature both at its
// time of issue and when it was used.
func (x *exported) signed(env *attest.Envelope, st *attest.Statement, used time.Time) (*attest.Signature,
	*wire.Error) {
	var refusal *wire.Error
	for _, set := range x.sets {
		var sig *attest.Signature
		var bad *wire.Error
		for _, at := range []time.Time{st.IssuedAt, used} {
			if sig, bad = set.Verify(env, at); bad == nil {
				bad = sig.SpeaksFor(st.Principal)
			}
			if bad != nil {
				break
			}
		}
		if bad == nil {
			return sig, nil
		}
		if refusal == nil {
			refusal = bad
		}
	}
	return nil, refusal
}
