// Package sibling reads another clone from its files alone, because nothing in it may run and nothing it says may
// lead elsewhere: its repository, refs, branch and settings. The store judges its run.
package sibling
