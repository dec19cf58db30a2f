// The categories of commands, as help shows them.

package shared

// Categories in the order help shows them.
const (
	CategoryStart      = "start"
	CategoryRun        = "run"
	CategoryLook       = "look"
	CategoryTrust      = "trust"
	CategoryMove       = "move"
	CategoryMulti      = "many repositories"
	CategoryProve      = "prove"
	CategoryNeighbours = "neighbours"
	CategoryView       = "view"
	CategoryShell      = "shell"
)

// Categories lists them in that order.
func Categories() []string {
	return []string{
		CategoryStart, CategoryRun, CategoryLook, CategoryTrust, CategoryMove,
		CategoryMulti, CategoryProve, CategoryNeighbours, CategoryView, CategoryShell,
	}
}
