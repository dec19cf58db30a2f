// Package ci tells a report in the forms that build servers understand: JUnit XML
// and the workflow commands of GitHub Actions (docs/reports.md#ci).
package ci
