// Package settle does the arithmetic of settlements. Amounts are read as the decimals they are
// written as and never become floats. The whole is rounded once, half up, to millionths of a
// dollar; it is divided into the parts by largest remainder, ties going to the smaller id, so they
// always add up to it.
package settle
