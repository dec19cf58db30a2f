// Package anchor names the places in a page of the documentation that links lead to: one rule for the site made from
// the pages and for the test that follows their links.
package anchor
