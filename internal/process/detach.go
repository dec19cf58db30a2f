// Starting a detached program, the part common to all systems.

package process

import (
	"errors"
	"os"
	"syscall"
)

func detach(argv []string, dir string, env []string, files []*os.File, how *syscall.SysProcAttr) (*os.Process, error) {
	if len(argv) == 0 {
		return nil, errors.New("there is no program to start")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	open := make([]*os.File, max(3, len(files)))
	for i := range open {
		if open[i] = null; i < len(files) && files[i] != nil {
			open[i] = files[i]
		}
	}
	return os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: dir, Env: env, Files: open, Sys: how})
}
