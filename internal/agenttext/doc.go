// Package agenttext is the text that tells an agent what a governed repository is and which
// commands are its own, and how it stands between two markers in a file of the person's.
package agenttext
