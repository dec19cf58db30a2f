// "Did you mean": the known name nearest to a mistyped one.

package term

import (
	"slices"
	"strings"
)

// Nearest returns the known name closest to word, or "" when none is close enough to be what was
// meant. A unique completion of word counts as close.
func Nearest(word string, known []string) string {
	if word == "" || len(word) > 64 {
		return ""
	}
	lower := strings.ToLower(word)
	best, bestCost := "", 1+max(1, min(3, len(lower)/3))
	var completions []string
	for _, k := range known {
		if len(lower) >= 2 && strings.HasPrefix(k, lower) {
			completions = append(completions, k)
		}
		if cost := editDistance(lower, strings.ToLower(k)); cost < bestCost {
			best, bestCost = k, cost
		}
	}
	if len(completions) == 1 && bestCost > 1 {
		return completions[0]
	}
	return best
}

// otherWords maps words from other programs to our names: the first known one is meant.
func otherWords(word string) []string {
	switch word {
	case "assign":
		return []string{"step"}
	case "gate":
		return []string{"approve-gate"}
	case "begin", "continue", "start":
		return []string{"run"}
	case "cancel":
		return []string{"abandon"}
	case "cat", "view":
		return []string{"show"}
	case "check":
		return []string{"fsck", "validate"}
	case "commit":
		return []string{"checkpoint"}
	case "create", "new":
		return []string{"init"}
	case "del", "delete", "remove", "rm":
		return []string{"archive"}
	case "list", "ls":
		return []string{"list", "runs"}
	case "next":
		return []string{"status"}
	case "pull", "push":
		return []string{"sync"}
	case "submit":
		return []string{"accept"}
	case "unblock":
		return []string{"resume"}
	}
	return nil
}

// meant returns the known command that was probably meant by a word, "" when that is unclear.
func meant(word string, known []string) string {
	for _, s := range otherWords(strings.ToLower(word)) {
		if slices.Contains(known, s) {
			return s
		}
	}
	return Nearest(word, known)
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment, over bytes: command
// and flag names are ASCII).
func editDistance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = slices.Min([]int{prev[j] + 1, cur[j-1] + 1, prev[j-1] + cost})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
