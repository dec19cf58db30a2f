// Reading an artifact: plain or compressed, counted, cancellable.

package restore

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the maximum memory that a compressed artifact can request. Writers use at most 8 MiB unless told
// otherwise.
const maxWindow = 32 << 20

// open returns the artifact in r, decompressed if it begins like zstd.
func open(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(4)
	if !bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return b, func() {}, nil
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// readAhead reads from src while the previous data is processed. It is for files, which never block a reader. done
// ends it.
func readAhead(src io.Reader) (r io.Reader, done func()) {
	a := &ahead{
		full:  make(chan chunk),
		free:  make(chan []byte, 2),
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	for range cap(a.free) {
		a.free <- make([]byte, 256<<10)
	}
	go a.read(src)
	return a, func() { close(a.stop); <-a.ended }
}

type chunk struct {
	data []byte
	err  error
}

type ahead struct {
	full        chan chunk
	free        chan []byte
	stop, ended chan struct{}
	now         chunk
	rest        []byte // of the current block
}

func (a *ahead) read(src io.Reader) {
	defer close(a.ended)
	for {
		select {
		case <-a.stop:
			return
		case buf := <-a.free:
			n, err := src.Read(buf)
			select {
			case <-a.stop:
				return
			case a.full <- chunk{buf[:n], err}:
			}
			if err != nil {
				return
			}
		}
	}
}

func (a *ahead) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.free <- a.now.data[:cap(a.now.data)]
		}
		a.now = <-a.full
		a.rest = a.now.data
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	if len(a.rest) == 0 {
		return n, a.now.err
	}
	return n, nil
}

// counting passes reads through until ctx ends, and reports progress.
type counting struct {
	ctx  context.Context
	r    io.Reader
	n    int64
	max  int64
	tell func(int64)
	raw  *counting // the compressed source, if any
}

// A compressed artifact may always expand to this size, and beyond it to this multiple of its own size: only a file
// made to fill a disk grows faster.
const (
	freeInflation = 16 << 30
	maxInflation  = 1000
)

func (c *counting) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.max > 0 && c.n > c.max {
		return n, errTooLarge
	}
	if c.raw != nil && c.n > freeInflation && c.n/maxInflation > c.raw.n {
		return n, errTooLarge
	}
	if c.tell != nil {
		c.tell(c.n)
	}
	return n, err
}
