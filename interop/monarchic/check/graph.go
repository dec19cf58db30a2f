// Steps and tasks that wait for each other: unknown names, duplicates, cycles.

package check

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// edge is one "waits for", and its place in the document.
type edge struct {
	to string
	at string
}

// graph holds what the nodes of a plan or a pipeline wait for, in document order.
type graph struct {
	ids   []string
	edges map[string][]edge
}

// steps checks the steps of a plan, portable or strict (docs/monarchic.md#types): distinct
// ids, dependencies that are steps of the plan, no cycle.
func (j *judge) steps(plan *ojson.Object, at, dependencies string) {
	g := graph{edges: map[string][]edge{}}
	at = ojson.Member(at, "steps")
	for i, v := range plan.Array("steps") {
		step, _ := v.(*ojson.Object)
		id, ok := textOf(step, "step_id")
		if !ok {
			continue
		}
		here := ojson.Item(at, i)
		if _, double := g.edges[id]; double {
			j.fail(ojson.Member(here, "step_id"), "plan.duplicate_step",
				fmt.Sprintf("there is another step %s", ojson.Shown(id)))
			continue
		}
		g.ids = append(g.ids, id)
		g.edges[id] = []edge{}
		for k, d := range step.Array(dependencies) {
			if to, ok := d.(string); ok {
				g.edges[id] = append(g.edges[id], edge{to, ojson.Item(ojson.Member(here, dependencies), k)})
			}
		}
	}
	j.graph(g, "plan", "step")
}

// graph reports unknown dependencies, then one finding for each cycle.
func (j *judge) graph(g graph, family, noun string) {
	for _, id := range g.ids {
		kept := g.edges[id][:0]
		for _, e := range g.edges[id] {
			if _, ok := g.edges[e.to]; !ok {
				j.fail(e.at, family+".unknown_dependency", fmt.Sprintf("%s %s waits for %s, which is not a %s here", noun,
					ojson.Shown(id), ojson.Shown(e.to), noun))
				continue
			}
			kept = append(kept, e)
		}
		g.edges[id] = kept
	}
	for _, c := range g.cycles() {
		j.fail(c[0].at, family+".cycle", fmt.Sprintf("%ss wait for each other in a circle: %s", noun, circle(c)))
	}
}

// circle describes a cycle: a -> b -> a.
func circle(c []edge) string {
	const most = 12
	var words []string
	for i := range c {
		if i == most && len(c) > most+1 {
			words = append(words, fmt.Sprintf("… (%d more)", len(c)-most-1))
			break
		}
		words = append(words, ojson.Shown(c[(i+len(c)-1)%len(c)].to))
	}
	return strings.Join(append(words, ojson.Shown(c[len(c)-1].to)), " -> ")
}

// cycles finds cycles that share no node, at most ten. Each is a list of edges; the first leaves
// the node that the last one leads to.
func (g graph) cycles() [][]edge {
	const most = 10
	waiting := g.stuck(nil)
	var out [][]edge
	for len(waiting) > 0 && len(out) < most {
		// Every stuck node waits for a stuck one, so following any such edge from any of them comes
		// back at last.
		at := ""
		for _, id := range g.ids {
			if waiting[id] {
				at = id
				break
			}
		}
		var walked []edge
		when := map[string]int{}
		for {
			if first, again := when[at]; again {
				walked = walked[first:]
				break
			}
			when[at] = len(walked)
			for _, e := range g.edges[at] {
				if waiting[e.to] {
					walked = append(walked, e)
					at = e.to
					break
				}
			}
		}
		out = append(out, walked)
		for _, e := range walked {
			delete(waiting, e.to)
		}
		waiting = g.stuck(waiting)
	}
	return out
}

// stuck returns the nodes among those given (nil: all) that wait, directly or not, for a cycle of
// them.
func (g graph) stuck(among map[string]bool) map[string]bool {
	waits := make(map[string]int)
	heldBy := make(map[string][]string)
	var free []string
	for _, id := range g.ids {
		if among != nil && !among[id] {
			continue
		}
		n := 0
		for _, e := range g.edges[id] {
			if among == nil || among[e.to] {
				n++
				heldBy[e.to] = append(heldBy[e.to], id)
			}
		}
		waits[id] = n
		if n == 0 {
			free = append(free, id)
		}
	}
	for len(free) > 0 {
		id := free[len(free)-1]
		free = free[:len(free)-1]
		delete(waits, id)
		for _, w := range heldBy[id] {
			if waits[w]--; waits[w] == 0 {
				free = append(free, w)
			}
		}
	}
	out := make(map[string]bool, len(waits))
	for id := range waits {
		out[id] = true
	}
	return out
}
