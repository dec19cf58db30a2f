// Package ci writes a report in formats that build servers understand: JUnit XML and the workflow commands of
// GitHub Actions (docs/reports.md#ci).
package ci
