// Package personfile changes one file of the person's, into which a part of ours goes. What the
// part is and where it goes is for the caller; here is how the file is read and written.
package personfile
