// Package testleak fails the tests of a package that leave a goroutine behind.
package testleak
