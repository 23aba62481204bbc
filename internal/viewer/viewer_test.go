package viewer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/browser"
	"github.com/reprise-gpu/reprise/internal/viewer"
)

// echo is a source whose pages repeat their input.
type echo struct{}

func (echo) Names() []string { return []string{"img", `"<b>`} }

func (echo) Program(_ context.Context, name string) ([]byte, error) {
	return fmt.Appendf(nil, "<title>program %s</title>", name), nil
}

func (echo) File(_ context.Context, name, text string) ([]byte, error) {
	if text == "" {
		return nil, errors.New("the file is empty")
	}
	return fmt.Appendf(nil, "<title>file %s: %s</title>", name, text), nil
}

var address = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000}

// request sends a request to a server at 127.0.0.1:7000. Headers are pairs.
func request(s *viewer.Server, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:7000"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const own = "http://127.0.0.1:7000"

// TestReportsAreServed makes reports of a program and of a file.
func TestReportsAreServed(t *testing.T) {
	s := viewer.New(echo{}, address)
	start := request(s, "GET", "/", "")
	assert.Equal(t, http.StatusOK, start.Code)
	assert.Contains(t, start.Body.String(), `data-program="img"`)
	assert.NotContains(t, start.Body.String(), `"<b>`, "names are escaped")
	for _, c := range []struct{ query, body, want string }{
		{"program=img", "", "program img"},
		{"name=a.rir", "graph", "file a.rir: graph"},
		{"name=a%0Ab", "graph", "file upload.rir: graph"},
	} {
		w := request(s, "POST", "/reports?"+c.query, c.body, "Origin", own)
		require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
		var made struct{ URL string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
		page := request(s, "GET", made.URL, "")
		assert.Contains(t, page.Body.String(), c.want)
	}
	w := request(s, "POST", "/reports?name=a.rir", "", "Origin", own)
	assert.Equal(t, http.StatusUnprocessableEntity, w.Code)
	assert.JSONEq(t, `{"error": "the file is empty"}`, w.Body.String())
}

// TestForeignRequestsAreRefused sends what pages of other origins can send.
func TestForeignRequestsAreRefused(t *testing.T) {
	s := viewer.New(echo{}, address)
	for _, c := range []struct {
		method, path string
		headers      []string
		code         int
	}{
		{"GET", "/", nil, 200},
		{"GET", "/", []string{"Host", "localhost:7000"}, 200},
		{"GET", "/", []string{"Host", "[::1]:7000"}, 200},
		{"GET", "/", []string{"Host", "evil.example:7000"}, 403}, // DNS rebinding
		{"GET", "/", []string{"Host", "127.0.0.1:7001"}, 403},
		{"GET", "/reports/1", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/reports?program=img", nil, 403},
		{"POST", "/reports?program=img", []string{"Origin", "null"}, 403},
		{"POST", "/reports?program=img", []string{"Origin", "http://evil.example"}, 403},
		{"POST", "/reports?program=img", []string{"Origin", "http://localhost:7000"}, 403}, // not that of the Host
		{"POST", "/reports?program=img", []string{"Origin", own, "Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/reports?program=img", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 201},
		{"PUT", "/reports", []string{"Origin", own}, 405},
		{"GET", "/reports/9", nil, 404},
		{"GET", "/reports/x", nil, 404},
		{"GET", "/etc/passwd", nil, 404},
	} {
		w := request(s, c.method, c.path, "", c.headers...)
		assert.Equal(t, c.code, w.Code, "%+v", c)
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		assert.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
	}
}

// TestLargeFilesAreRefused sends more than the limit.
func TestLargeFilesAreRefused(t *testing.T) {
	s := viewer.New(echo{}, address)
	w := request(s, "POST", "/reports?name=a.rir", strings.Repeat("x", viewer.MaxUpload+1), "Origin", own)
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	assert.Contains(t, w.Body.String(), "64 MiB")
}

// TestOldReportsAreDropped keeps the latest 16.
func TestOldReportsAreDropped(t *testing.T) {
	s := viewer.New(echo{}, address)
	for range 20 {
		request(s, "POST", "/reports?program=img", "", "Origin", own)
	}
	assert.Equal(t, http.StatusNotFound, request(s, "GET", "/reports/4", "").Code)
	assert.Equal(t, http.StatusOK, request(s, "GET", "/reports/5", "").Code)
}

// TestFilePickerInABrowser chooses a program in a headless Chromium, over a real connection.
func TestFilePickerInABrowser(t *testing.T) {
	path := browser.Find()
	if path == "" {
		t.Skip("no Chromium on this machine: install the package chromium")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- viewer.New(echo{}, l.Addr()).Serve(ctx, l) }()
	b, err := browser.Start(ctx, path, t.TempDir())
	require.NoError(t, err)
	p, err := b.Open(ctx, "http://"+l.Addr().String()+"/", 900, 700, "document.querySelector('[data-program=img]')")
	require.NoError(t, err)
	require.NoError(t, p.Eval("document.querySelector('[data-program=img]').click()", nil))
	require.NoError(t, p.Until("document.title === 'program img'"))
	require.NoError(t, b.Close())
	cancel()
	require.NoError(t, <-served)
}
