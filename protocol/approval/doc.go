// Package approval reads back from a run's record, or from an exported one, what people,
// policies and other tools said to its decisions, and judges it again without the keys of
// this machine; so it does with what witnesses signed. Whether a yes counts is package
// agreement's rule; nothing here changes a run.
package approval
