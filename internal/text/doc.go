// Package text is for text that other people, agents and programs wrote: it makes
// the text visible, puts it on one line, cuts it and measures it for a terminal.
//
// It has the project's only table of hostile runes. A rune is hostile when a
// reader may not see it as it is: it drives a terminal, reorders or hides text,
// or is invisible to a person and readable by a model. Terminals, pages, reports,
// commit messages and the prompts of agents get such runes spelled out.
//
// The package is pure: text in, text out.
package text
