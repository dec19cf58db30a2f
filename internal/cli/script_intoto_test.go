package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	vsa "github.com/in-toto/attestation/go/predicates/vsa/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
)

// scriptInToto reads statements, one a line, as the in-toto project's own library does, and prints
// the type of each predicate. With ALLOWED and SIGNER the lines are DSSE envelopes, which another
// library opens while ssh-keygen verifies the signature.
//
//	intoto FILE [ALLOWED SIGNER]
func scriptInToto(args []string) error {
	if len(args) != 1 && len(args) != 3 {
		return errors.New("usage: intoto FILE [ALLOWED SIGNER]")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		payload := lines.Bytes()
		if len(args) == 3 {
			var env dsse.Envelope
			if err := json.Unmarshal(payload, &env); err != nil {
				return err
			}
			v, err := dsse.NewEnvelopeVerifier(sshKeygen{args[1], args[2]})
			if err != nil {
				return err
			}
			if _, err := v.Verify(context.Background(), &env); err != nil {
				return err
			}
			if payload, err = env.DecodeB64Payload(); err != nil {
				return err
			}
		}
		if err := readInToto(payload); err != nil {
			return fmt.Errorf("%w: %s", err, payload)
		}
	}
	return lines.Err()
}

func readInToto(payload []byte) error {
	var st intoto.Statement
	if err := protojson.Unmarshal(payload, &st); err != nil {
		return err
	}
	if err := st.Validate(); err != nil {
		return err
	}
	body, err := st.Predicate.MarshalJSON()
	if err != nil {
		return err
	}
	switch st.PredicateType {
	case "https://slsa.dev/provenance/v1":
		var p provenance.Provenance
		if err := protojson.Unmarshal(body, &p); err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return err
		}
	case "https://slsa.dev/verification_summary/v1":
		var p vsa.VerificationSummary
		// Consumers ignore extensions, as SLSA requires.
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, &p); err != nil {
			return err
		}
		if p.GetVerifier().GetId() == "" || p.GetTimeVerified() == nil || p.GetResourceUri() == "" ||
			p.GetPolicy() == nil || p.GetVerificationResult() == "" {
			return errors.New("the summary lacks what SLSA requires")
		}
	}
	fmt.Println(st.PredicateType)
	return nil
}

// sshKeygen verifies signatures with the standard tool.
type sshKeygen struct{ allowed, signer string }

func (v sshKeygen) Verify(ctx context.Context, data, sig []byte) error {
	dir, err := os.MkdirTemp("", "intoto")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "sig")
	if err := os.WriteFile(file, sig, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-Y", "verify", "-n", "git", "-f", v.allowed, "-I", v.signer,
		"-s", file)
	cmd.Stdin = bytes.NewReader(data)
	return cmd.Run()
}

func (sshKeygen) KeyID() (string, error)   { return "", errors.New("any key") }
func (sshKeygen) Public() crypto.PublicKey { return nil }
