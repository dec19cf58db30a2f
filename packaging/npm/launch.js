#!/usr/bin/env node
// Starts the program of the package for this system, passes signals on to it, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@git-agentxchain/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "git-agentxchain.exe" : "git-agentxchain";
let path;
try {
  path = require.resolve(`${name}/${file}`);
} catch {
  console.error(`git-agentxchain: ${name} is not installed; install without --omit=optional, or build it: ` +
    "go install github.com/git-agentxchain/git-agentxchain/cmd/git-agentxchain@latest");
  process.exit(2);
}
const program = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A supervisor's signal reaches only this process, a terminal's both; the program takes two in a row for one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => program.kill(signal));
program.on("error", (error) => {
  console.error(`git-agentxchain: ${error.message}`);
  process.exit(2);
});
program.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));
