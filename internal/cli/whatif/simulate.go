// simulate: the configuration, played before a run begins.

package whatif

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

type simulateOptions struct {
	Other  lookback.OtherConfig
	Script string // file of events; "" for none
	Seed   uint64
	Random bool
	Events int
	States int
	SVG    string
}

func NewSimulateCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "simulate",
		Category: shared.CategoryProve,
		Usage:    "play roles and people through the configuration to find dead ends",
		Description: "Decides every event in memory, as in a real run: a role's turn works, asks to move on with " +
			"the gate's documents in order, or stops for a person; a person writes the documents, approves, or " +
			"lifts a block. Without --script and --seed it examines every reachable state, up to --states of them, " +
			"and reports which phases cannot be left, which gates never open, which rules can deadlock, and which " +
			"gates agents can open alone. Exit status 1 if no run can complete, a phase cannot be left, or a gate " +
			"never opens.",
		Flags: append(otherConfigFlags()[:2],
			&ucli.StringFlag{
				Name:  "script",
				Usage: "play the events of `FILE`, a JSON list such as [\"pm ask\", \"approve\", \"dev work\"]",
			},
			&ucli.Uint64Flag{
				Name:  "seed",
				Usage: "play random events from seed `N`; the same seed gives the same events",
			},
			&ucli.IntFlag{Name: "events", Usage: "with --seed: at most `N` events", Value: 50},
			&ucli.IntFlag{Name: "states", Usage: "examine at most `N` states", Value: whatif.DefaultStates},
			&ucli.StringFlag{Name: "svg", Usage: "draw the reachable states into `FILE`"}),
		Action: func(c *ucli.Context) error {
			other, err := otherConfigFrom(f, c)
			if err != nil {
				return err
			}
			o := &simulateOptions{
				Other:  *other,
				Script: c.String("script"),
				Seed:   c.Uint64("seed"),
				Random: c.IsSet("seed"),
				Events: c.Int("events"),
				States: c.Int("states"),
				SVG:    c.String("svg"),
			}
			switch {
			case o.Script != "" && o.Random:
				return term.UsageErrorf("--script and --seed cannot be used together")
			case o.SVG != "" && (o.Script != "" || o.Random):
				return term.UsageErrorf("--svg draws every reachable state; it goes with neither --script nor --seed")
			case c.IsSet("events") && !o.Random:
				return term.UsageErrorf("--events bounds what --seed draws, and there is no --seed")
			case o.States < 1 || o.States > 200000:
				return term.UsageErrorf("--states takes 1 to 200000, not %d", o.States)
			case o.Events < 1 || o.Events > 100000:
				return term.UsageErrorf("--events takes 1 to 100000, not %d", o.Events)
			}
			return runSimulate(c.Context, f, o)
		},
	}
}

func runSimulate(ctx context.Context, f *term.Factory, o *simulateOptions) error {
	cfg, err := simulatedConfig(ctx, f, o)
	if err != nil {
		return err
	}
	if o.Script != "" || o.Random {
		return playEvents(f, o, cfg)
	}
	g, err := whatif.Explore(cfg, o.States)
	if err != nil {
		return term.Errorf("invalid_config", "%w", err)
	}
	if o.SVG != "" {
		path, err := f.Path(o.SVG)
		if err == nil {
			err = durable.WriteFile(filepath.Dir(path), filepath.Base(path), g.SVG(), 0o666)
		}
		if err != nil {
			return term.Errorf("io_failed", "cannot write %s: %w", term.OneLine(o.SVG), err)
		}
	}
	f.Out.Emit(ojson.Marshal(g), func(p *term.Printer) { printGraph(p, g) })
	if g.Whole && !g.Completes || len(g.Stuck)+len(g.Shut) > 0 {
		return term.ErrFindings()
	}
	return nil
}

func simulatedConfig(ctx context.Context, f *term.Factory, o *simulateOptions) (*config.Config, error) {
	var data []byte
	if o.Other.Document == nil {
		r, err := shared.Open(ctx, f)
		if err != nil {
			return nil, err
		}
		if data, err = os.ReadFile(filepath.Join(r.Record().Dir(), wire.ConfigPath)); err != nil {
			return nil, term.Errorf("unreadable_file", "%s cannot be read: %w", wire.ConfigPath, err)
		}
	}
	cfg, _, err := o.Other.Over(data)
	return cfg, err
}

func printGraph(p *term.Printer, g *whatif.Graph) {
	if g.Whole {
		p.Printf("Every reachable state was looked at: %s, %s.\n", term.Counted(len(g.Nodes), "state"),
			term.Counted(len(g.Edges), "way"))
	} else {
		p.Printf("The first %s were looked at; there are more (--states N). What was not seen is not judged.\n",
			term.Counted(len(g.Nodes), "state"))
	}
	switch {
	case g.Completes:
		p.Printf("A run can complete: %s.\n", term.OneLine(strings.Join(g.Path, ", ")))
	case g.Whole:
		p.Printf("%s\n", p.Red("No run can complete."))
	default:
		p.Printf("%s\n", p.Yellow("No way to complete a run was found so far."))
	}
	list := func(title string, stuck []whatif.Stuck) {
		for _, s := range stuck {
			p.Printf("%s %s\n", p.Red(title), p.Bold(term.OneLine(s.Name)))
			if s.Why != "" {
				p.Printf("  - %s\n", term.OneLine(s.Why))
			}
			if len(s.Path) > 0 {
				p.Printf("    %s\n", p.Dim("after: "+term.OneLine(strings.Join(s.Path, ", "))))
			}
		}
	}
	list("A phase cannot be left:", g.Stuck)
	list("A gate never opens:", g.Shut)
	list("A run can come to a standstill over", g.Deadlocks)
	for _, gate := range g.Alone {
		p.Printf("%s %s\n", p.Yellow("Agents open a gate alone:"), p.Bold(term.OneLine(gate)))
	}
}

// playEvents plays a script, or random events.
func playEvents(f *term.Factory, o *simulateOptions, cfg *config.Config) error {
	w, err := whatif.NewWorld(cfg)
	if err != nil {
		return term.Errorf("invalid_config", "%w", err)
	}
	events, err := scriptedEvents(f, o, cfg)
	if err != nil {
		return err
	}
	draw := rand.New(rand.NewPCG(o.Seed, 0))
	var steps []whatif.Simulated
	for i := 0; ; i++ {
		var e whatif.Event
		if o.Random {
			choices := w.Events()
			if i == o.Events || len(choices) == 0 {
				break
			}
			e = choices[draw.IntN(len(choices))]
		} else {
			if i == len(events) {
				break
			}
			e = events[i]
		}
		next, step := w.Step(e)
		w, steps = next, append(steps, step)
	}
	list, refused := []*ojson.Object{}, 0
	for i := range steps {
		list = append(list, ojson.Marshal(&steps[i]))
		if steps[i].Refused {
			refused++
		}
	}
	f.Out.Emit(ojson.NewObject("steps", list, "phase", w.State.Phase, "status", string(w.State.Status),
		"refused", refused), func(p *term.Printer) {
		t := &term.Table{Header: []string{"#", "EVENT", "PHASE", "STATUS", "WHY"}, Flex: 4}
		for i, s := range steps {
			status := s.Status
			if s.Refused {
				status = "refused"
			}
			t.Row(strconv.Itoa(i+1), s.Event, s.Phase, status, s.Why)
		}
		p.Table(t)
		p.Printf("The run is %s in phase %s after %s.\n", w.State.Status, term.OneLine(w.State.Phase),
			term.Counted(len(steps), "event"))
	})
	if !o.Random && refused > 0 {
		return term.ErrFindings()
	}
	return nil
}

func scriptedEvents(f *term.Factory, o *simulateOptions, cfg *config.Config) ([]whatif.Event, error) {
	if o.Random {
		return nil, nil
	}
	data, err := shared.ReadInput(f, "the script", o.Script, 1<<20)
	if err != nil {
		return nil, err
	}
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return nil, term.Errorf("invalid_input", "%s is not a JSON list of events: %w", term.OneLine(o.Script), err)
	}
	var out []whatif.Event
	for i, line := range lines {
		e, err := whatif.ParseEvent(cfg, line)
		if err != nil {
			return nil, term.Errorf("invalid_input", "event %d: %w", i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}
