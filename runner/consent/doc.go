// Package consent gathers what the engine judges a person's word by: who made what is decided on, the commit from
// which approvers are read, the statements that were signed elsewhere, and the one that is signed now with the
// person's own key. It judges nothing, and changes nothing except what the signing program does for itself.
package consent
