// Package demo plays a whole governed run in a scratch repository, with scripted participants that really edit
// files. Everything goes through the runner, the same code as the commands.
package demo
