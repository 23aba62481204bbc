// Package viewer serves reports of programs to the browser of the same machine. It answers requests of its own pages only:
// a page of another origin can neither read a report nor start one.
package viewer

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Source makes the pages.
type Source interface {
	// Names are the programs that can be shown without a file.
	Names() []string
	// Program returns the page of one of them.
	Program(ctx context.Context, name string) ([]byte, error)
	// File returns the page of a saved program.
	File(ctx context.Context, name, text string) ([]byte, error)
}

// Limits of a Server.
const (
	MaxUpload  = 64 << 20 // bytes of a file
	maxReports = 16       // that are kept, the latest
)

// Server is an http.Handler. Address is the host and the port that it is reached at.
type Server struct {
	source  Source
	address string
	mux     *http.ServeMux
	one     chan struct{} // holds a token while no report is being made

	mu      sync.Mutex
	reports map[int][]byte
	last    int
}

// New returns a server for a listener on this machine.
func New(source Source, at net.Addr) *Server {
	s := &Server{source: source, address: at.String(), mux: http.NewServeMux(), one: make(chan struct{}, 1), reports: map[int][]byte{}}
	s.one <- struct{}{}
	s.mux.HandleFunc("GET /{$}", s.start)
	s.mux.HandleFunc("POST /reports", s.create)
	s.mux.HandleFunc("GET /reports/{number}", s.report)
	return s
}

// Serve serves until the context is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP refuses requests that do not come from a page of this server on this machine.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	if why := s.refuse(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// refuse returns why a request is refused, "" if it is not. The Host of a request that a foreign name resolves to is that
// name (DNS rebinding). The Origin of a request from another page is that of the page.
func (s *Server) refuse(r *http.Request) string {
	if !slices.Contains(s.hosts(), r.Host) {
		return "the Host of the request is not that of this server: open http://" + s.address
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" {
		return "the request comes from another site"
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return ""
	}
	if origin := r.Header.Get("Origin"); origin != "http://"+r.Host {
		return "the Origin of the request is not this server"
	}
	return ""
}

// hosts returns the names of the server.
func (s *Server) hosts() []string {
	_, port, _ := net.SplitHostPort(s.address)
	return []string{s.address, "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port}
}

//go:embed start.html
var startText string

// start serves the page with the file picker.
func (s *Server) start(w http.ResponseWriter, _ *http.Request) {
	var names strings.Builder
	for _, n := range s.source.Names() {
		fmt.Fprintf(&names, `<button type="button" data-program="%s">%[1]s</button> `, html.EscapeString(n))
	}
	page := strings.Replace(startText, "{{names}}", names.String(), 1)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", startPolicy)
	io.WriteString(w, page)
}

// startPolicy allows the script and the style of the start page by their hashes, and requests to this server.
var startPolicy = fmt.Sprintf("default-src 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; script-src %s; style-src %s",
	hashOf(startText, "script"), hashOf(startText, "style"))

func hashOf(page, element string) string {
	_, rest, _ := strings.Cut(page, "<"+element+">")
	text, _, _ := strings.Cut(rest, "</"+element+">")
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// created answers a request for a report: its address, or an error.
type created struct {
	URL   string `json:"url,omitempty"`
	Error string `json:"error,omitempty"`
}

// create makes a report: of a program by its name, or of the file in the body.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	page, status, err := s.page(w, r)
	if err != nil {
		answer(w, status, created{Error: err.Error()})
		return
	}
	answer(w, http.StatusCreated, created{URL: fmt.Sprintf("/reports/%d", s.keep(page))})
}

// page returns the page of a request, or an error and its status.
func (s *Server) page(w http.ResponseWriter, r *http.Request) ([]byte, int, error) {
	query := r.URL.Query()
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxUpload))
	if err != nil {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the file cannot be read, or has more than %d MiB: write its report with reprise report", MaxUpload>>20)
	}
	select {
	case <-s.one:
		defer func() { s.one <- struct{}{} }()
	case <-r.Context().Done():
		return nil, http.StatusServiceUnavailable, r.Context().Err()
	}
	var page []byte
	if name := query.Get("program"); name != "" {
		page, err = s.source.Program(r.Context(), name)
	} else {
		page, err = s.source.File(r.Context(), nameOf(query.Get("name")), string(text))
	}
	return page, http.StatusUnprocessableEntity, err
}

// nameOf returns the name of an uploaded file in messages.
func nameOf(name string) string {
	if name == "" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return "upload.rir"
	}
	return name
}

// keep stores a page and returns its number. The oldest page is dropped.
func (s *Server) keep(page []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.reports[s.last] = page
	delete(s.reports, s.last-maxReports)
	return s.last
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("number"))
	s.mu.Lock()
	page := s.reports[number]
	s.mu.Unlock()
	if err != nil || page == nil {
		http.Error(w, "there is no such report, or it was dropped: make it again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page)
}

func answer(w http.ResponseWriter, status int, c created) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(c) // the client may have gone
}
