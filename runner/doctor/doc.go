// Package doctor examines everything a run depends on, from git to the programs that agentxchain.json names, reports
// each problem with the command that fixes it, and fixes on request what is safe to fix; it also sets up signing. It
// decides nothing about a run: it asks the Runner for changes there.
package doctor
