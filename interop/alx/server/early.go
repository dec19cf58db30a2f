// Requests that the HTTP library refuses by itself, before any handler: headers that are too large,
// no Host, no HTTP. They get the envelope of a failure as well.

package server

import (
	"bytes"
	"fmt"
	"net"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// enveloped is a listener whose connections put the library's own plain answers into the envelope.
type enveloped struct{ net.Listener }

func (l enveloped) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &envelopedConn{Conn: c}, nil
}

type envelopedConn struct{ net.Conn }

// plain is the headers with which the library writes such an answer, in one write; our own answers
// have others.
const plain = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c *envelopedConn) Write(b []byte) (int, error) {
	head, text, ok := bytes.Cut(b, []byte(plain))
	if !ok || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) || bytes.Contains(head, []byte("\r\n")) {
		return c.Conn.Write(b)
	}
	status, err := strconv.Atoi(string(head[len("HTTP/1.1 "):min(len(head), len("HTTP/1.1 ")+3)]))
	if err != nil {
		return c.Conn.Write(b)
	}
	code := alx.CodeInvalidRequest
	if status == 431 {
		code = alx.CodeBodyTooLarge
	}
	correlation := alx.NewCorrelationID()
	body := alx.Encode(alx.NewFailure(correlation,
		alx.Errorf(code, "The request cannot be read: %s.", clip(string(text)))))
	answer := fmt.Appendf(nil,
		"%s\r\nContent-Type: %s\r\n%s: %s\r\n%s: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		head, alx.MediaJSON, alx.HeaderCorrelationID, correlation, alx.HeaderProtocolVersion, alx.Version, len(body),
		body)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(b), nil
}
