// Package approval reads back from a run's record, or from an exported one, what people, policies and other tools
// said about its decisions, and judges it again without the keys of this machine; it does the same for what
// witnesses signed. Package agreement decides whether an approval counts; nothing here changes a run.
package approval
