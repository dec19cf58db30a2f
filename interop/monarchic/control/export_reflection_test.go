package control

// ReflectOn exports reflectOn for the fuzzer.
var ReflectOn = reflectOn
