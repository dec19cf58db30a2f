//go:build !linux

// Isolation is only available on Linux.

package confine

// Helper does nothing here.
func Helper([]string) {}

func (p *Plan) wrap(c Command) (Command, error) {
	return c, unavailable(p.Kind, "set isolation to none, or run the agent on Linux", "it needs Linux")
}
