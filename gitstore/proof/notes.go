// Notes of what the verifier has found sound, so that each operation is checked once.
//
// A note is a hint that saves time. It is bound to this repository, this machine's file system and this person, so
// that one copied with a directory is worthless; and fsck never reads it. A process that can write to the git
// directory with the person's rights can forge it, just as it can forge the whole record: docs/threat-model.md.

package proof

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
)

// keptVerified is how many of the newest operations a note names: one would do if refs never moved back and all
// work trees agreed.
const keptVerified = 32

// maxVerifiedNote bounds the file; a run with more open claims than fit is checked again.
const maxVerifiedNote = 1 << 20

// verified holds the notes of one run.
type verified struct {
	run     string
	bound   [sha256.Size]byte
	ops     []verifiedOp // newest last
	arrived []Arrival    // decisions of people that came from elsewhere, newest last
}

type verifiedOp struct {
	op   object.OID
	open []Claim
}

func (v *verified) find(op object.OID) ([]Claim, bool) {
	for _, x := range slices.Backward(v.ops) {
		if x.op == op {
			return x.open, true
		}
	}
	return nil, false
}

// add adds an operation as the newest.
func (v *verified) add(op object.OID, open []Claim) {
	v.ops = slices.DeleteFunc(v.ops, func(o verifiedOp) bool { return o.op == op })
	v.ops = append(v.ops, verifiedOp{op, open})
	if n := len(v.ops) - keptVerified; n > 0 {
		v.ops = v.ops[n:]
	}
}

// verifiedPath names the person too: in a repository that people share each believes only what they checked.
func verifiedPath(r *git.Repository, run string) string {
	sum := sha256.Sum256(strconv.AppendInt([]byte(run+"\x00"), int64(os.Getuid()), 10))
	return filepath.Join(r.CommonDir, "agentxchain", "verified", hex.EncodeToString(sum[:12]))
}

// verifiedBound returns what a note of the run is bound to, including the rules.
func verifiedBound(r *git.Repository, run string) [sha256.Size]byte {
	return private.Bound(r, "verified by rule set "+strconv.Itoa(protocol.RuleSet), run)
}

// readVerified reads the notes of a run; it returns none when there is no usable file.
func readVerified(r *git.Repository, run string) *verified {
	out := &verified{run: run, bound: verifiedBound(r, run)}
	data, err := git.ReadBounded(verifiedPath(r, run), maxVerifiedNote)
	if err != nil {
		return out
	}
	d, err := private.Unseal(data)
	if err != nil || string(d.Bytes()) != string(out.bound[:]) {
		return out
	}
	var ops []verifiedOp
	for range d.Count() {
		o := verifiedOp{op: object.OID(d.Bytes())}
		for range d.Count() {
			at := object.OID(d.Bytes())
			var c external.Claim
			if row, err := ojson.DecodeObject(d.Bytes()); err != nil || len(ojson.Unmarshal(row, &c)) > 0 {
				return out
			}
			o.open = append(o.open, Claim{Claim: c, Op: at})
		}
		ops = append(ops, o)
	}
	var arrived []Arrival
	for range d.Count() {
		var v [6][]byte
		for i := range v {
			v[i] = d.Bytes()
		}
		arrived = append(arrived, Arrival{
			Op:    object.OID(v[0]),
			Name:  string(v[1]),
			Gate:  string(v[2]),
			Actor: evidence.Actor{Name: string(v[3]), Email: string(v[4])},
			At:    string(v[5]),
		})
	}
	if !d.Done() {
		return out
	}
	out.ops, out.arrived = ops, arrived
	return out
}

// noteVerified writes down what was found sound. A failure only costs time later.
func noteVerified(r *git.Repository, n *verified, v *Verdict) {
	n.add(v.Op, v.Open)
	for _, a := range v.Arrived {
		if !slices.ContainsFunc(n.arrived, func(b Arrival) bool { return a.Op == b.Op }) {
			n.arrived = append(n.arrived, a)
		}
	}
	if k := len(n.arrived) - keptVerified; k > 0 {
		n.arrived = n.arrived[k:]
	}
	writeVerified(r, n)
}

// NoteSeen checks the operations of a run up to op, as Believe does, without reporting its decisions as arrived: in
// a layout of a run no decision was made, so all would be. Invalid operations are reported when they are read.
func NoteSeen(ctx context.Context, r *git.Repository, run string, op object.OID) {
	if _, err := Verify(ctx, r, run, op); err != nil {
		return
	}
	n := readVerified(r, run)
	n.arrived = nil
	writeVerified(r, n)
}

// NoteOwn notes an operation that this process has derived from a sound one. It notes nothing if its parent is not
// noted, nor if the operation cannot be derived; then the verifier checks it like any other.
func NoteOwn(r *git.Repository, run, name string, parent, op object.OID) {
	if name == protocol.OpExternal {
		return
	}
	n := readVerified(r, run)
	var open []Claim
	if parent != "" {
		var ok bool
		if open, ok = n.find(parent); !ok {
			return
		}
	}
	if name == protocol.OpConfirm {
		open = nil
	}
	n.add(op, open)
	writeVerified(r, n)
}

func writeVerified(r *git.Repository, n *verified) {
	b := private.PutBytes(nil, n.bound[:])
	b = binary.AppendUvarint(b, uint64(len(n.ops)))
	for _, o := range n.ops {
		b = private.PutBytes(b, []byte(o.op))
		b = binary.AppendUvarint(b, uint64(len(o.open)))
		for _, c := range o.open {
			b = private.PutBytes(b, []byte(c.Op))
			b = private.PutBytes(b, ojson.Compact(ojson.Marshal(&c.Claim)))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(n.arrived)))
	for _, a := range n.arrived {
		for _, s := range []string{string(a.Op), a.Name, a.Gate, a.Actor.Name, a.Actor.Email, a.At} {
			b = private.PutBytes(b, []byte(s))
		}
	}
	data := private.Seal(b)
	if len(data) > maxVerifiedNote {
		return
	}
	name := verifiedPath(r, n.run)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		if err := git.MakeDir(filepath.Dir(name)); err != nil {
			return
		}
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o600); err != nil {
			return
		}
	}
	// In place, like the stat cache: a torn note is ignored.
	_, _ = f.WriteAt(data, 0)
	_ = f.Close()
}
