// Package measure runs a program and reads what it cost: time on the clock, time
// on the processor, peak memory, and how many git processes it started.
//
// A process begins its life with the peak memory of the one that started it, so the
// measuring process must be small. Run therefore starts the command through a fresh
// copy of the running program that does nothing else; Launched, called first thing in
// main, is that copy's whole work.
package measure
