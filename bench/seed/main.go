// Seed makes a governed project with a run of a given length and one turn whose
// result is staged, ready to be accepted, by this program or by another
// implementation of the protocol.
//
//	go run ./bench/seed -bin git-agentxchain -turns 10000 DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

func main() {
	bin := flag.String("bin", "git-agentxchain", "the `PROGRAM` to play turns with")
	turns := flag.Int("turns", 10, "accepted turns; beyond ten they are made up")
	kind := flag.String("kind", string(play.Review),
		"what turns do: review (no file) or changes (a file each, committed)")
	staged := flag.Bool("staged", true, "leave a turn with a staged result")
	runs := flag.Int("runs", 0,
		"put so many runs that are over beside one that goes on, and all of them on a remote; -turns does not count then")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(),
			"usage: seed [flags] DIR\n\nMakes a governed project in DIR, which must not exist or be empty.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || *runs < 0 || *turns < 1 || *kind != string(play.Review) && *kind != string(play.Changes) {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *runs > 0 {
		err = many(flag.Arg(0), *bin, play.Kind(*kind), *runs)
	} else {
		err = seed(flag.Arg(0), *bin, play.Kind(*kind), *turns, *staged)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func seed(dir, bin string, kind play.Kind, turns int, staged bool) error {
	p, err := play.New(dir, bin, kind)
	if err != nil {
		return err
	}
	if err := p.Turns(min(turns, 10)); err != nil {
		return err
	}
	if turns > 10 {
		// A few turns are played on top, so that the run is recorded in git and in its normal
		// state.
		if err := p.Grow(turns); err != nil {
			return err
		}
		if err := p.Turns(2); err != nil {
			return err
		}
	}
	if staged {
		return p.Assign()
	}
	return nil
}

func many(dir, bin string, kind play.Kind, runs int) error {
	p, err := play.New(dir, bin, kind)
	if err == nil {
		err = p.Beside(runs)
	}
	if err == nil {
		err = p.Share()
	}
	return err
}
