// Package object is git's objects as bytes: ids of either hash, kinds, trees, commits and loose files, made and read
// strictly, for what is read may be hostile. It starts no git and knows no repository; packs are not here.
package object
