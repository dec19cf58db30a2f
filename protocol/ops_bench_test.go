// Benchmarks of the engine: the cost of each operation in a replay.

package protocol

import (
	"fmt"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// benchWorld returns a run with some history and a staged result of its writer.
func benchWorld(b *testing.B) (*opsWorld, *AcceptTurn) {
	w := startedWorld(b, patient)
	w.checks = false
	w.inPhase("build")
	for i := range 20 {
		turn := w.assign("dev")
		w.write("src/a.go", fmt.Sprint(i))
		w.accept(turn.TurnID, "files_changed", []string{"src/a.go"}, "decisions", decisionsOf("DEC-001", "DEC-002"))
		w.must(w.checkpointOf(turn.TurnID))
	}
	turn := w.assign("dev")
	w.write("src/a.go", "last")
	w.stage(turn.TurnID, "files_changed", []string{"src/a.go"}, "decisions", decisionsOf("DEC-100"))
	return w, w.acceptance(turn.TurnID)
}

// BenchmarkApplyAccept measures one acceptance with everything encoded.
func BenchmarkApplyAccept(b *testing.B) {
	w, op := benchWorld(b)
	snap, env := w.snapshot(), w.env()
	b.ReportAllocs()
	for b.Loop() {
		tr, err := Apply(snap, op, env)
		if err != nil || tr.Failure != nil {
			b.Fatal(err, tr.Failure)
		}
		tr.State.Encode()
		tr.Index.Encode()
	}
}

func BenchmarkStateClone(b *testing.B) {
	w, _ := benchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		w.state.Clone()
	}
}

func BenchmarkStateEncode(b *testing.B) {
	w, _ := benchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		w.state.Encode()
	}
}

func BenchmarkIndexEncode(b *testing.B) {
	w, _ := benchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		w.index.Encode()
	}
}

func BenchmarkStateDecode(b *testing.B) {
	w, _ := benchWorld(b)
	data := w.state.Encode()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.DecodeState(data); err != nil {
			b.Fatal(err)
		}
	}
}
