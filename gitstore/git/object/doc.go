// Package object is git's objects as bytes: ids of either hash, kinds, trees, commits and loose files, written, and
// parsed strictly because input may be hostile. It starts no git and knows no repository; package pack handles
// packs.
package object
