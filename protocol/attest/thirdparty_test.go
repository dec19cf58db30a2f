package attest

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// sshVerifier is a verifier as third-party tools would write one: ssh-keygen judges.
type sshVerifier struct {
	p      *program
	signer string
}

func (v *sshVerifier) Verify(_ context.Context, data, sig []byte) error {
	v.p.write("third.sig", string(sig))
	_, err := v.p.try(data, "ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", v.signer, "-n", "git",
		"-s", "third.sig")
	return err
}

func (v *sshVerifier) KeyID() (string, error)   { return "", errors.New("any key") }
func (v *sshVerifier) Public() crypto.PublicKey { return nil }

// A library that is not ours accepts the envelope as DSSE, with ssh-keygen for the signature.
func TestThirdPartyVerifier(t *testing.T) {
	p := programs(t, "ssh-keygen")
	public := p.key("ada", "-t", "ed25519")
	p.write("allowed", "ada@example.org namespaces=\"git\" "+public+"\n")
	payload, refusal := example().Encode()
	if refusal != nil {
		t.Fatal(refusal)
	}
	data := p.sign("ada", Namespace, payload).EncodeDSSE()
	judge := func(data []byte, signer string) ([]byte, error) {
		var env dsse.Envelope
		if err := json.Unmarshal(data, &env); err != nil {
			return nil, err
		}
		v, err := dsse.NewEnvelopeVerifier(&sshVerifier{p, signer})
		if err != nil {
			return nil, err
		}
		if _, err := v.Verify(context.Background(), &env); err != nil {
			return nil, err
		}
		return env.DecodeB64Payload()
	}
	got, err := judge(data, "ada@example.org")
	if err != nil || !bytes.Equal(got, payload) {
		t.Fatalf("%q %v", got, err)
	}
	if _, err := judge(data, "bob@example.org"); err == nil {
		t.Error("another signer passes")
	}
	other := example()
	other.Gate = "another"
	text, _ := other.Encode()
	env, refusal := DecodeDSSE(data)
	if refusal != nil {
		t.Fatal(refusal)
	}
	env.Payload = text
	if _, err := judge(env.EncodeDSSE(), "ada@example.org"); err == nil {
		t.Error("another statement passes")
	}
}
