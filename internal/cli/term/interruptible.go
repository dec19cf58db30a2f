// Reads that may wait for ever, such as those of a FIFO nobody writes to.

package term

import "context"

// Interruptible is read's answer, or context.Canceled as soon as the command is
// told to end. A read under way has no way to be called off: it is left behind,
// and goes with the process.
func Interruptible[T any](f *Factory, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-f.ended:
		var none T
		return none, context.Canceled
	}
}
