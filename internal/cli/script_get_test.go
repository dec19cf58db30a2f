// A web client for the acceptance scripts.

package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// scriptGet is the program
//
//	get URL [METHOD] [NAME: VALUE]...    prints "HTTP <status>", then the answer's body; redirections are not followed
func scriptGet(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: get URL [METHOD] [NAME: VALUE]...")
	}
	method := http.MethodGet
	headers := args[1:]
	if len(headers) > 0 && !strings.Contains(headers[0], ":") {
		method, headers = headers[0], headers[1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, args[0], nil)
	if err != nil {
		return err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		if strings.EqualFold(name, "host") {
			req.Host = strings.TrimSpace(value)
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Printf("HTTP %d\n", resp.StatusCode)
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
