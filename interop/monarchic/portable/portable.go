// What all types of the portable family share.

package portable

// Version is the value of version and contract_version of every object we write.
const Version = "v1"
