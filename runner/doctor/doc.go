// Package doctor looks at everything a run depends on, from git to the programs that agentxchain.json names, says
// what is wrong with the command that mends it, and mends on request what cannot cost anybody anything; it also
// sets signing up. It decides nothing about a run: what it changes there it asks of the Runner.
package doctor
