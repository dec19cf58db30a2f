// What the state keeps of gate documents and of approvals in progress; members of ours
// (docs/spec/state.md#documents-and-approvals).

package run

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// DocumentMark is a gate document as it was at three moments of the run. Digests are
// sha256:<hex>, or "missing".
type DocumentMark struct {
	Run    string `json:"run"`              // when the run began
	Phase  string `json:"phase"`            // when the phase began
	Signed bool   `json:"signed,omitempty"` // its sign-off line said yes when the current turn began
	Extra  ojson.Extra
}

// DocumentMissing is the digest of a document that did not exist.
const DocumentMissing = "missing"

// Vote is one person's approval of a gate that needs several, or the approval that passed one.
type Vote struct {
	Principal string `json:"principal"` // e-mail address
	Name      string `json:"name,omitempty"`
	At        string `json:"at"`
	Content   string `json:"content"`             // sha256:<hex> of what was approved; see agreement.Moment.Content
	Statement string `json:"statement,omitempty"` // sha256:<hex> of the signed statement, "" for none
	KeyID     string `json:"key_id,omitempty"`    // key that signed it
	Key       string `json:"key,omitempty"`       // what counts once, whatever the key's names
	Terminal  bool   `json:"terminal"`            // a terminal was attached
	Reason    string `json:"reason,omitempty"`
	Extra     ojson.Extra
}

// VoteRows returns votes as they appear in a row or an answer.
func VoteRows(votes []*Vote) []*ojson.Object {
	return ojson.List(votes, func(v *Vote) *ojson.Object { return ojson.Marshal(v) })
}

// Who returns the person for use in a sentence; a person without a name in git is known by the address alone.
func (v *Vote) Who() string {
	if v.Name == "" {
		return v.Principal
	}
	return v.Name + " <" + v.Principal + ">"
}
