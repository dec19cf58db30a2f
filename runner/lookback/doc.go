// Package lookback asks the record of a run why and what if: recorded operations are judged again by the engine,
// explained, under another configuration, searched for the one at which a verdict turned, made cases of, laid out
// as of then. The judging itself is in protocol/whatif; nothing here changes a run.
package lookback
