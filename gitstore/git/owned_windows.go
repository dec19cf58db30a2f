// Ownership of another clone's files, on Windows.

package git

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// OwnedByUs reports whether this process's user owns the file at path itself, as git judges it: what an administrator
// makes belongs to the group of administrators, and counts as the administrator's.
func OwnedByUs(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil || fi.Mode()&fs.ModeSymlink != 0 {
		return false // the owner of what a link leads to would be returned
	}
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	owner, _, err := sd.Owner()
	if err != nil || owner == nil {
		return false
	}
	if me, err := windows.GetCurrentProcessToken().GetTokenUser(); err == nil && owner.Equals(me.User.Sid) {
		return true
	}
	member, err := windows.Token(0).IsMember(owner)
	return err == nil && member && owner.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}
