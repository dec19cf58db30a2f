// Package bench measures whole commands from outside: from the start of the
// process to its exit, with everything in between. Run it with make bench.
//
// There are only benchmarks here. No figure is ever asserted: a test that depends on the clock
// fails on a busy machine and proves nothing on a quiet one. docs/performance.md says what is
// measured, how, and with what results.
package bench
