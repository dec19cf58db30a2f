// Package testtrace runs a program under ptrace, with everything it starts, and makes one of the system calls that
// change files go wrong.
//
// Those calls are counted across the whole tree of processes, so that a test can go through all of them: at each
// the process is killed before or after the call, with or without its siblings, or the call fails, or writes less
// than requested, or waits while something else happens. The calls can be recorded with what they wrote, for Disk,
// which computes what a power cut may leave of them.
//
// Mount does the same many times as fast, without tracing: a simulated disk that programs use through FUSE, whose
// calls go wrong, whose power is cut, whose clock jumps, and which has two programs alternate.
//
// Tracing works on Linux on amd64; elsewhere, and where processes may not be traced, Available returns false.
package testtrace
