// Package sibling reads another clone by its files alone, because nothing in it may run and nothing it says may lead
// elsewhere: its repository, refs, branch and settings. What its run is worth is the store's to judge.
package sibling
