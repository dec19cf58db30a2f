// Package agenttext holds the text that tells an agent what a governed repository is and which commands it may use,
// and keeps it between two markers in a file of the person's.
package agenttext
