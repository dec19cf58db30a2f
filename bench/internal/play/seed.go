// Making a long run out of a short one, without playing it.

package play

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// grown returns the ledgers that a turn adds to.
func grown() []string {
	return []string{wire.LedgerHistory.Path(), wire.LedgerDecisions.Path(), wire.LedgerEvents.Path(),
		wire.LedgerTalk.Path()}
}

// measureLedgers notes where the ledgers end before a turn.
func (p *Project) measureLedgers() {
	for _, name := range grown() {
		p.last[name] = 0
		if fi, err := os.Stat(p.path(name)); err == nil {
			p.last[name] = fi.Size()
		}
	}
}

// Grow makes the run total accepted turns long, of which at least one must have been played: it
// repeats its rows under new ids and numbers. It then drops what git holds of the run, so that the
// project is as another implementation of the protocol would have left it; the next command records
// it again.
func (p *Project) Grow(total int) error {
	if p.turn == "" {
		return errors.New("a turn must have been played first")
	}
	state, err := p.document(wire.DocState)
	if err != nil {
		return err
	}
	seq, _ := state.Int("turn_sequence")
	history, err := os.ReadFile(p.path(wire.LedgerHistory.Path()))
	if err != nil {
		return err
	}
	have := bytes.Count(history, []byte("\n"))
	rows := make(map[string][]byte)
	for _, name := range grown() {
		data, err := os.ReadFile(p.path(name))
		if err != nil {
			return err
		}
		rows[name] = data[p.last[name]:]
	}
	numbered := regexp.MustCompile(`(step |Step |DEC-|OBJ-)\d+`)
	sequences := regexp.MustCompile(`"assigned_sequence":\d+,"accepted_sequence":\d+`)
	events := regexp.MustCompile(`evt_[0-9a-f]{16}`)
	files := make(map[string]*bytes.Buffer)
	for name := range rows {
		files[name] = &bytes.Buffer{}
	}
	short := func(turn string) string { return strings.TrimPrefix(turn, "turn_")[:8] }
	turn := p.turn
	for i := have; i < total; i++ {
		turn = fmt.Sprintf("turn_%08x%08x", i*0x9e3779b1&0xffffffff, i)
		p.step++
		event := 0
		for name, row := range rows {
			text := strings.ReplaceAll(string(row), p.turn, turn)
			text = strings.ReplaceAll(text, short(p.turn), short(turn))
			text = numbered.ReplaceAllString(text, fmt.Sprintf("${1}%03d", p.step))
			text = sequences.ReplaceAllString(text,
				fmt.Sprintf(`"assigned_sequence":%d,"accepted_sequence":%d`, seq+1, seq+2))
			text = events.ReplaceAllStringFunc(text, func(string) string {
				event++
				return fmt.Sprintf("evt_%08x%08x", i, event)
			})
			files[name].WriteString(text)
		}
		seq += 2
	}
	for name, buf := range files {
		if err := appendTo(p.path(name), buf.Bytes()); err != nil {
			return err
		}
	}
	state.Set("turn_sequence", seq)
	state.Set("last_completed_turn_id", turn)
	if err := p.write(string(wire.DocState), string(ojson.Pretty(state))); err != nil {
		return err
	}
	if session, err := p.document(wire.DocSession); err == nil {
		session.Set("last_turn_id", turn)
		session.Set("last_completed_turn_id", turn)
		if err := p.write(string(wire.DocSession), string(ojson.Pretty(session))); err != nil {
			return err
		}
	}
	p.turn = turn
	if err := p.forget(); err != nil {
		return err
	}
	// A person adopts what no operation made.
	_, err = p.run(p.Bin, "repair", "--adopt", "--yes")
	return err
}

// forget drops the run's ref and what this work tree knows about it.
func (p *Project) forget() error {
	refs, err := p.run("git", "for-each-ref", "--format=%(refname)", "refs/agentxchain/")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(refs)) {
		if _, err := p.run("git", "update-ref", "-d", strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(p.Dir, ".git", "agentxchain"))
}

func (p *Project) document(d wire.Document) (*ojson.Object, error) {
	data, err := os.ReadFile(p.path(string(d)))
	if err != nil {
		return nil, err
	}
	return ojson.DecodeObject(data)
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
