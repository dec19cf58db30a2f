// Guarding the governed files of other projects while a hook runs (docs/coordinator.md#hooks).

package hooks

import (
	"path"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// Sibling is another project on this machine.
type Sibling struct {
	Name string // name of its files in messages and codes, such as ../api
	Root string // absolute path of the project
}

type besideGuard struct {
	name  string
	guard *guard
}

// takeBeside takes the pictures of the siblings. Their bundles are closed in every phase: none of their turns is
// the hook's own.
func (g *guard) takeBeside() error {
	for _, s := range g.runner.Beside {
		other := &Runner{Root: s.Root, Scratch: g.runner.Scratch}
		sub, err := other.guard(Call{Phase: g.call.Phase})
		if err != nil {
			return err
		}
		g.beside = append(g.beside, besideGuard{s.Name, sub})
	}
	return nil
}

// checkBeside returns the first changed file of a sibling, or "".
func (g *guard) checkBeside() (string, error) {
	for _, b := range g.beside {
		changed, err := b.guard.check()
		if err != nil {
			return "", err
		}
		if changed != "" {
			return path.Join(b.name, changed), nil
		}
	}
	return "", nil
}

// restoreBeside restores whatever was changed in the siblings.
func (g *guard) restoreBeside() error {
	var errs []error
	for _, b := range g.beside {
		changed, err := b.guard.check()
		if err == nil && changed != "" {
			err = b.guard.restore()
		}
		errs = append(errs, err)
	}
	return failures.All(errs...)
}
