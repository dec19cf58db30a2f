// What a report is and how it is made.

// Package account turns an export artifact into an account of the run, or of the initiative with its repositories,
// that people and programs can read (docs/reports.md#what-a-report-says).
//
// Load verifies an artifact and reads what a report needs. Build derives the single report model from that, an
// ordered JSON object in the published format, and Render writes it as json, text, markdown or html. The renderings
// see only the model, never the artifact; every string in it is foreign text, and each rendering makes it harmless
// in one place.
package account
