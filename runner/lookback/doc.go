// Package lookback asks the record of a run "why" and "what if": recorded operations are judged again by the engine,
// explained, judged under another configuration, searched for the one at which a verdict changed, turned into test
// cases, or laid out as of then. The judging itself is in protocol/whatif; nothing here changes a run.
package lookback
