// Package measure runs a program and reads what it cost: wall-clock time, processor time, peak
// memory, and how many git processes it started.
//
// A process starts with the peak memory of its parent, so the measuring process must be small. Run
// therefore starts the command through a fresh copy of the running program that does nothing else.
// That copy runs in Launched, which main calls first.
package measure
