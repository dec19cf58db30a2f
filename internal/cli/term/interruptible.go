// Reads that may wait for ever, such as those of a FIFO without a writer.

package term

import "context"

// Interruptible returns read's result, or context.Canceled as soon as the command is told to end. A
// read under way cannot be cancelled: it is left behind, and ends with the process.
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
