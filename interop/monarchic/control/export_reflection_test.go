package control

// ReflectOn is for the fuzzer.
var ReflectOn = reflectOn
