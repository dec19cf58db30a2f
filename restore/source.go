// Where an artifact is read from: plain or compressed, counted, cancellable.

package restore

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the most memory a compressed artifact can ask for. Writers use 8
// MiB at most unless they are told otherwise.
const maxWindow = 32 << 20

// open returns the artifact in r, decompressed when it starts as zstd does.
func open(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(4)
	if !bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return b, func() {}, nil
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// counting passes reads on until ctx ends, and tells how far they came.
type counting struct {
	ctx  context.Context
	r    io.Reader
	n    int64
	max  int64
	tell func(int64)
	raw  *counting // what this is decompressed from, when it is
}

// A compressed artifact may become this large whatever it is made of, and after that
// so many times as large as it is: what somebody packed to fill a disk grows faster.
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
