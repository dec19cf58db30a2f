// Package text handles text that other people, agents and programs wrote: it makes the text visible, puts it on one
// line, truncates it and measures it for a terminal.
//
// It has the project's only table of hostile runes. A rune is hostile when a reader may not see it as it is: it
// drives a terminal, reorders or hides text, or is invisible to a person and readable by a model. In terminals,
// pages, reports, commit messages and the prompts of agents such runes are spelled out.
//
// The package is pure: text in, text out.
package text
