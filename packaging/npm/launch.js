#!/usr/bin/env node
// Starts the program of the package for this system, and ends as it ends.
"use strict";
const { spawnSync } = require("node:child_process");

const name = `@git-agentxchain/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "git-agentxchain.exe" : "git-agentxchain";
let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  console.error(`git-agentxchain: ${name} is not installed; install without --omit=optional, or build it: ` +
    "go install github.com/git-agentxchain/git-agentxchain/cmd/git-agentxchain@latest");
  process.exit(2);
}
// A signal of the terminal reaches the program too, which decides how to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`git-agentxchain: ${error.message}`);
  process.exit(2);
}
process.exit(signal ? 130 : status);
