package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"text/template"
)

// The page. dist/ is built from web/src and dagre by `make report-web`, and committed.
var (
	//go:embed web/page.html
	pageText string
	//go:embed web/style.css
	styleText string
	//go:embed web/dist/report.js
	scriptText string
	//go:embed web/dist/layout.js
	layoutText string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// WritePage writes a report as one HTML file. Its policy allows its own script and style and nothing from elsewhere.
func (d *Data) WritePage(w io.Writer) error {
	data, err := json.Marshal(d) // which escapes <, > and &
	if err != nil {
		return err
	}
	if strings.Contains(layoutText, "</script") || strings.Contains(scriptText, "</script") {
		panic("BUG: the script ends its own element")
	}
	return pageTemplate.Execute(w, map[string]string{
		"Title":  html.EscapeString(d.Program + " – Reprise report"),
		"Policy": policy(),
		"Style":  styleText, "Data": string(data), "Layout": layoutText, "Script": scriptText,
	})
}

// policy returns the content security policy of the page: its scripts and its style by their hashes, and a worker made from the
// text in the page.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src %s blob:; worker-src blob:; style-src %s", hashOf(scriptText), hashOf(styleText))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
