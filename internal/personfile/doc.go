// Package personfile changes a person's file that is to contain a part of ours. The caller decides what the part is
// and where it goes; this package reads and writes the file.
package personfile
