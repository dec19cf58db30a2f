// The statement: one decision of one person, bound to bytes, as an in-toto Statement v1.

package attest

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// The form of a statement on the wire (docs/spec/approvals.md#the-statement).
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/git-agentxchain/git-agentxchain/docs/spec/approvals/v1"
	PayloadType   = "application/vnd.in-toto+json"

	// configURI names the configuration where no other subject exists.
	configURI = "https://github.com/git-agentxchain/git-agentxchain/docs/spec/configuration"
)

// Bounds of a statement.
const (
	MaxStatement = 64 << 10 // bytes
	MaxEvidence  = 1000     // files
	maxDepth     = 16
	maxText      = 8 << 10 // bytes of the reason
	maxName      = 512     // bytes of a name, an id, a principal
)

// Decision is the kind of a person's decision.
type Decision string

const (
	Approve       Decision = "approve"
	Deny          Decision = "deny"
	Withdraw      Decision = "withdraw"
	AdoptConfig   Decision = "adopt_config"
	Unblock       Decision = "unblock"
	Decline       Decision = "decline"
	AcceptWorking Decision = "accept_working"
	Reconcile     Decision = "reconcile"
	AcceptAsIs    Decision = "accept_as_is" // gate is what blocks the run, gate_type policy or hook
	TrustHooks    Decision = "trust_hooks"
	Witness       Decision = "witness" // the run was at Operation, which was its operation number Sequence
)

// Asked says how the question reached the person who answered it.
type Asked string

const (
	AskedTerminal   Asked = "terminal"
	AskedAutomation Asked = "automation"
	AskedMCP        Asked = "mcp"
	AskedPage       Asked = "page" // a page of the dashboard
)

// File is a file that a statement is about.
type File struct {
	Path   string // project-relative, clean
	SHA256 string // 64 lower case hex digits
}

// Repository is a repository of an initiative, with the state of its run.
type Repository struct {
	ID        string
	Operation string // commit id of the newest operation of its run
}

// ofRepository is the prefix of a subject that is a Repository.
const ofRepository = "repository:"

// Statement is one decision (docs/spec/approvals.md#the-statement). Texts are UTF-8 without control characters,
// except line feeds and tabs in the reason.
type Statement struct {
	Decision  Decision
	Run       string // "" for decisions outside runs
	Project   string
	Gate      string // like GateType, Phase and To, "" where no gate is decided
	GateType  string
	Phase     string
	To        string
	Operation string // commit id of the operation it answers, or ""
	Config    string // SHA-256 of the governing configuration's bytes, in hex
	Evidence  []File // sorted by path once encoded, each path once
	Commit    string // git id of the commit that is released, or ""
	Tree      string // git id of its tree, or ""
	// for a gate of an initiative, sorted by id once encoded, each once
	Repositories []Repository
	Principal    string
	Reason       string
	Nonce        string // 32 lower case hex digits
	IssuedAt     time.Time
	ExpiresAt    time.Time
	Asked        Asked
	Sequence     int // of a witness: the number of Operation in the run, from 1; else 0
}

// Encode returns the statement's bytes: compact JSON with a fixed member order and the files sorted by path. Equal
// statements give equal bytes, and DecodeStatement restores the statement. Fails with statement_invalid.
func (s *Statement) Encode() ([]byte, *wire.Error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	files := slices.Clone(s.Evidence)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var subject []*ojson.Object
	add := func(label, name, algorithm, digest string) {
		if digest != "" {
			subject = append(subject, ojson.NewObject(label, name, "digest", ojson.NewObject(algorithm, digest)))
		}
	}
	for _, f := range files {
		add("name", f.Path, "sha256", f.SHA256)
	}
	for _, r := range slices.SortedFunc(slices.Values(s.Repositories), func(a, b Repository) int {
		return strings.Compare(a.ID, b.ID)
	}) {
		add("name", ofRepository+r.ID, "gitCommit", r.Operation)
	}
	add("name", "tree", "gitTree", s.Tree)
	add("name", "commit", "gitCommit", s.Commit)
	if len(subject) == 0 {
		add("uri", configURI, "sha256", s.Config) // a statement without a subject is invalid
	}
	predicate := &ojson.Object{}
	for _, m := range s.members() {
		predicate.Set(m.name, *m.value)
	}
	if s.Sequence != 0 {
		predicate.Set("sequence", s.Sequence)
	}
	predicate.Set("issued_at", wire.FormatTime(s.IssuedAt))
	predicate.Set("expires_at", wire.FormatTime(s.ExpiresAt))
	out := ojson.Compact(ojson.NewObject(
		"_type", StatementType,
		"subject", subject,
		"predicateType", PredicateType,
		"predicate", predicate,
	))
	if len(out) > MaxStatement {
		return nil, invalid("subject", "the statement has %d bytes; at most %d are signed", len(out), MaxStatement)
	}
	return out, nil
}

// member is one string of the predicate.
type member struct {
	name  string
	value *string
}

// members returns the strings of the predicate in wire order.
func (s *Statement) members() []member {
	return []member{
		{"decision", (*string)(&s.Decision)},
		{"run", &s.Run},
		{"project", &s.Project},
		{"gate", &s.Gate},
		{"gate_type", &s.GateType},
		{"phase", &s.Phase},
		{"to", &s.To},
		{"operation", &s.Operation},
		{"config", &s.Config},
		{"principal", &s.Principal},
		{"reason", &s.Reason},
		{"nonce", &s.Nonce},
		{"asked", (*string)(&s.Asked)},
	}
}

// DecodeStatement reads a statement. It ignores unknown members; each known member must occur exactly once, as
// Encode writes it. Fails with statement_invalid.
func DecodeStatement(data []byte) (*Statement, *wire.Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{
		Bytes: MaxStatement,
		Depth: maxDepth,
	})
	if err != nil {
		return nil, invalid("", "the statement cannot be read: %s", err)
	}
	doc, ok := v.(*ojson.Object)
	if !ok {
		return nil, invalid("", "the statement must be an object, not %s", ojson.TypeName(v))
	}
	for _, m := range [][2]string{{"_type", StatementType}, {"predicateType", PredicateType}} {
		if got, _ := doc.Get(m[0]); got != m[1] {
			return nil, invalid(m[0], "%s must be %s, not %s", m[0], m[1], ojson.Shown(got))
		}
	}
	s := &Statement{}
	predicate := doc.Object("predicate")
	if predicate == nil {
		return nil, invalid("predicate", "predicate must be an object")
	}
	var issued, expires string
	for _, m := range append(s.members(), member{"issued_at", &issued}, member{"expires_at", &expires}) {
		text, ok := predicate.Value(m.name).(string)
		if !ok {
			return nil, invalid("predicate."+m.name, "predicate.%s must be a text", m.name)
		}
		*m.value = text
	}
	s.Sequence, _ = predicate.Int("sequence")
	if e := s.setTimes(issued, expires); e != nil {
		return nil, e
	}
	if e := s.setSubjects(doc); e != nil {
		return nil, e
	}
	if e := s.check(); e != nil {
		return nil, e
	}
	return s, nil
}

func (s *Statement) setTimes(issued, expires string) *wire.Error {
	for _, m := range []struct {
		name, text string
		at         *time.Time
	}{{"issued_at", issued, &s.IssuedAt}, {"expires_at", expires, &s.ExpiresAt}} {
		t, err := wire.ParseTime(m.text)
		if err != nil || wire.FormatTime(t) != m.text {
			return invalid("predicate."+m.name, "predicate.%s must be a UTC time with milliseconds", m.name)
		}
		*m.at = t
	}
	return nil
}

// setSubjects reads what the statement is about: files, repositories, at most one tree and one commit, or the
// configuration alone.
func (s *Statement) setSubjects(doc *ojson.Object) *wire.Error {
	list := doc.Array("subject")
	if len(list) == 0 || len(list) > MaxEvidence+2 {
		return invalid("subject", "subject must have 1 to %d entries, not %d", MaxEvidence+2, len(list))
	}
	for i, v := range list {
		at := fmt.Sprintf("subject[%d]", i)
		o, _ := v.(*ojson.Object)
		digest := o.Object("digest")
		if digest.Len() != 1 {
			return invalid(at, "%s must have a digest with one member", at)
		}
		algorithm := digest.Keys()[0]
		text, name := digest.String(algorithm), o.String("name")
		if text == "" {
			return invalid(at, "%s has an empty digest", at)
		}
		switch {
		case algorithm == "gitTree" && s.Tree == "":
			s.Tree = text
		case algorithm == "gitCommit" && strings.HasPrefix(name, ofRepository):
			s.Repositories = append(s.Repositories, Repository{
				ID:        strings.TrimPrefix(name, ofRepository),
				Operation: text,
			})
		case algorithm == "gitCommit" && s.Commit == "":
			s.Commit = text
		case algorithm == "sha256" && o.Has("name"):
			s.Evidence = append(s.Evidence, File{
				Path:   name,
				SHA256: text,
			})
		case algorithm == "sha256" && len(list) == 1 && o.String("uri") == configURI &&
			text == doc.Object("predicate").String("config"):
		default:
			return invalid(at,
				"%s is neither a file, a repository, the tree, the commit nor the configuration, or is there twice", at)
		}
	}
	return nil
}

// decided says whether a decision is known, whether it answers an operation of a run, and whether it is about a
// gate.
func (d Decision) decided() (known, run, gate bool) {
	switch d {
	case Approve, Deny, Withdraw, AcceptAsIs:
		return true, true, true
	case Unblock, AcceptWorking, Reconcile, Witness:
		return true, true, false
	case AdoptConfig, Decline, TrustHooks:
		return true, false, false
	}
	return false, false, false
}

// check checks a statement against docs/spec/approvals.md#the-statement.
func (s *Statement) check() *wire.Error {
	known, run, gate := s.Decision.decided()
	if !known {
		return invalid("predicate.decision", "there is no decision %s", ojson.Shown(string(s.Decision)))
	}
	if !slices.Contains([]Asked{AskedTerminal, AskedAutomation, AskedMCP, AskedPage}, s.Asked) {
		return invalid("predicate.asked", "nothing is asked by %s", ojson.Shown(string(s.Asked)))
	}
	for _, m := range s.members() {
		limit := maxName
		if m.name == "reason" {
			limit = maxText
		}
		if !plain(*m.value, limit, m.name == "reason") {
			return invalid("predicate."+m.name,
				"predicate.%s must be UTF-8 of at most %d bytes without control characters",
				m.name, limit)
		}
	}
	for _, m := range []struct {
		name, value string
		needed      bool
	}{
		{"project", s.Project, true},
		{"principal", s.Principal, true},
		{"run", s.Run, run},
		{"operation", s.Operation, run},
		{"gate", s.Gate, gate},
		{"gate_type", s.GateType, gate},
	} {
		if m.needed && m.value == "" {
			return invalid("predicate."+m.name, "predicate.%s must not be empty", m.name)
		}
	}
	for _, m := range []struct {
		name, value string
		fits        bool
	}{
		{"predicate.config", s.Config, lowerHex(s.Config, 64)},
		{"predicate.nonce", s.Nonce, lowerHex(s.Nonce, 32)},
		{"predicate.operation", s.Operation, s.Operation == "" || gitID(s.Operation)},
		{"subject", s.Commit, s.Commit == "" || gitID(s.Commit)},
		{"subject", s.Tree, s.Tree == "" || gitID(s.Tree)},
	} {
		if !m.fits {
			return invalid(m.name, "%s must be lower case hex digits of the right number, not %s", m.name,
				ojson.Shown(m.value))
		}
	}
	if (s.Decision == Witness) != (s.Sequence > 0) || s.Sequence < 0 {
		return invalid("predicate.sequence", "predicate.sequence is a number from 1, in what a witness says")
	}
	if e := s.checkTimes(); e != nil {
		return e
	}
	if e := s.checkRepositories(); e != nil {
		return e
	}
	return s.checkEvidence()
}

func (s *Statement) checkRepositories() *wire.Error {
	seen := make(map[string]bool, len(s.Repositories))
	for _, r := range s.Repositories {
		switch {
		case r.ID == "" || !plain(r.ID, maxName, false):
			return invalid("subject", "%s is not the name of a repository", ojson.Shown(r.ID))
		case !gitID(r.Operation):
			return invalid("subject", "the operation of repository %s must be the id of a commit, not %s",
				ojson.Shown(r.ID), ojson.Shown(r.Operation))
		case seen[r.ID]:
			return invalid("subject", "repository %s is there twice", ojson.Shown(r.ID))
		}
		seen[r.ID] = true
	}
	return nil
}

func (s *Statement) checkTimes() *wire.Error {
	for _, t := range []time.Time{s.IssuedAt, s.ExpiresAt} {
		if y := t.UTC().Year(); y < 1970 || y > 9999 || !t.Equal(t.Truncate(time.Millisecond)) {
			return invalid("predicate.issued_at",
				"times must lie in the years 1970 to 9999 and have whole milliseconds")
		}
	}
	if !s.ExpiresAt.After(s.IssuedAt) {
		return invalid("predicate.expires_at", "predicate.expires_at must be after predicate.issued_at")
	}
	return nil
}

func (s *Statement) checkEvidence() *wire.Error {
	if len(s.Evidence) > MaxEvidence {
		return invalid("subject", "the statement speaks of %d files; at most %d are signed for", len(s.Evidence),
			MaxEvidence)
	}
	seen := make(map[string]bool, len(s.Evidence))
	for _, f := range s.Evidence {
		clean, problem := wire.CleanPath(f.Path)
		switch {
		case problem != "" || clean != f.Path || !utf8.ValidString(f.Path):
			return invalid("subject", "the path %s is not a clean path of the project", ojson.Shown(f.Path))
		case !lowerHex(f.SHA256, 64):
			return invalid("subject", "the digest of %s must be 64 lower case hex digits", ojson.Shown(f.Path))
		case seen[f.Path]:
			return invalid("subject", "the path %s is there twice", ojson.Shown(f.Path))
		}
		seen[f.Path] = true
	}
	return nil
}

func invalid(field, format string, args ...any) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeStatementInvalid,
		Field:   field,
		Message: fmt.Sprintf(format, args...),
	}
}

// plain reports whether s is UTF-8 without control characters; lines allows line feeds and tabs.
func plain(s string, limit int, lines bool) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < ' ' || r == 0x7f) && !(lines && (r == '\n' || r == '\t'))
	})
}

func lowerHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// gitID reports whether s is an object id of a repository with SHA-1 or SHA-256.
func gitID(s string) bool { return lowerHex(s, 40) || lowerHex(s, 64) }
