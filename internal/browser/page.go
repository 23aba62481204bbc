package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Page is a tab.
type Page struct {
	*Browser
	ctx     context.Context
	session string

	errs     sync.Mutex
	messages []string // errors of scripts, and requests to the network
}

// Open opens a page and waits until a condition, a JavaScript expression, holds.
func (b *Browser) Open(ctx context.Context, url string, width, height int, ready string) (*Page, error) {
	var target struct {
		TargetID string `json:"targetId"`
	}
	if err := b.call(ctx, "", "Target.createTarget", obj{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.call(ctx, "", "Target.attachToTarget", obj{"targetId": target.TargetID, "flatten": true}, &session); err != nil {
		return nil, err
	}
	p := &Page{Browser: b, ctx: ctx, session: session.SessionID}
	b.mu.Lock()
	b.events = p.event
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err := p.call(domain+".enable", obj{}, nil); err != nil {
			return nil, err
		}
	}
	if err := p.Size(width, height); err != nil {
		return nil, err
	}
	if err := p.call("Page.navigate", obj{"url": url}, nil); err != nil {
		return nil, err
	}
	return p, p.Until(ready)
}

type obj map[string]any

func (p *Page) call(method string, params, result any) error {
	return p.Browser.call(p.ctx, p.session, method, params, result)
}

// event collects the errors of the page.
func (p *Page) event(m message) {
	if m.Session != p.session {
		return
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		p.complain(m.Method + ": " + string(m.Params))
	case "Network.requestWillBeSent":
		var e struct {
			Request struct{ URL string }
		}
		if json.Unmarshal(m.Params, &e) == nil {
			p.complain("request: " + e.Request.URL)
		}
	}
}

func (p *Page) complain(text string) {
	p.errs.Lock()
	defer p.errs.Unlock()
	p.messages = append(p.messages, text)
}

// Messages returns the errors of scripts so far, and the requests of the page, "request: " and the address.
func (p *Page) Messages() []string {
	p.errs.Lock()
	defer p.errs.Unlock()
	return append([]string(nil), p.messages...)
}

// Eval evaluates a JavaScript expression, awaits it if it is a promise, and stores its value in result unless that is nil.
func (p *Page) Eval(expression string, result any) error {
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := p.call("Runtime.evaluate", obj{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	switch {
	case err != nil:
		return err
	case r.Exception != nil:
		return scriptError(fmt.Sprintf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description))
	case result == nil || r.Result.Value == nil:
		return nil
	}
	return json.Unmarshal(r.Result.Value, result)
}

// scriptError is the error of an expression that has thrown.
type scriptError string

func (e scriptError) Error() string { return string(e) }

// Until waits until an expression holds. One that throws does not hold yet, as while a page is loaded.
func (p *Page) Until(condition string) error {
	for {
		var ok bool
		err := p.Eval("!!("+condition+")", &ok)
		if ok {
			return nil
		}
		if err == nil || errors.As(err, new(scriptError)) {
			err = sleep(p.ctx, 20*time.Millisecond)
		}
		if err != nil {
			return fmt.Errorf("waited for %s: %w; the page reports %q", condition, err, p.Messages())
		}
	}
}

// Size sets the size of the window in CSS pixels.
func (p *Page) Size(width, height int) error {
	return p.call("Emulation.setDeviceMetricsOverride", obj{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Prefer sets the colour scheme that the system prefers, "light" or "dark".
func (p *Page) Prefer(scheme string) error {
	return p.call("Emulation.setEmulatedMedia", obj{"features": []obj{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Click clicks with the left button, once or twice.
func (p *Page) Click(x, y float64, times int) error {
	for n := 1; n <= times; n++ {
		for _, kind := range []string{"mousePressed", "mouseReleased"} {
			if err := p.call("Input.dispatchMouseEvent", obj{"type": kind, "x": x, "y": y, "button": "left", "clickCount": n}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hover moves the mouse.
func (p *Page) Hover(x, y float64) error {
	return p.call("Input.dispatchMouseEvent", obj{"type": "mouseMoved", "x": x, "y": y}, nil)
}

// Wheel turns the wheel, with the Ctrl key if ctrl is true.
func (p *Page) Wheel(x, y, dy float64, ctrl bool) error {
	modifiers := 0
	if ctrl {
		modifiers = 2
	}
	return p.call("Input.dispatchMouseEvent", obj{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": dy, "modifiers": modifiers}, nil)
}

// Key presses and releases a key by its name, as in KeyboardEvent.key.
func (p *Page) Key(key string) error {
	down := obj{"type": "keyDown", "key": key}
	code := map[string]int{"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}[key]
	if code != 0 {
		down["windowsVirtualKeyCode"] = code
	}
	if len(key) == 1 {
		down["text"] = key
	}
	if err := p.call("Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call("Input.dispatchKeyEvent", obj{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}, nil)
}

// Choose selects a file of this machine in the input element that a JavaScript expression returns, as its dialog does.
func (p *Page) Choose(input, file string) error {
	var found struct {
		Result struct {
			ObjectID string `json:"objectId"`
		} `json:"result"`
	}
	if err := p.call("Runtime.evaluate", obj{"expression": input}, &found); err != nil {
		return err
	}
	if found.Result.ObjectID == "" {
		return fmt.Errorf("%s is no element", input)
	}
	return p.call("DOM.setFileInputFiles", obj{"files": []string{file}, "objectId": found.Result.ObjectID}, nil)
}

// Screenshot returns the window as PNG, or the whole page.
func (p *Page) Screenshot(whole bool) ([]byte, error) {
	var shot struct {
		Data []byte `json:"data"`
	}
	err := p.call("Page.captureScreenshot", obj{"format": "png", "captureBeyondViewport": whole}, &shot)
	return shot.Data, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Node is an element as assistive technology sees it.
type Node struct {
	Role, Name string
	Focusable  bool
}

// Accessible returns the nodes of the accessibility tree that are not ignored.
func (p *Page) Accessible() (all []Node, err error) {
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool  `json:"ignored"`
			Role       value `json:"role"`
			Name       value `json:"name"`
			Properties []struct {
				Name  string `json:"name"`
				Value value  `json:"value"`
			} `json:"properties"`
		} `json:"nodes"`
	}
	if err := p.call("Accessibility.getFullAXTree", obj{}, &tree); err != nil {
		return nil, err
	}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		node := Node{Role: fmt.Sprint(n.Role.Value), Name: fmt.Sprint(n.Name.Value)}
		for _, q := range n.Properties {
			node.Focusable = node.Focusable || q.Name == "focusable" && q.Value.Value == true
		}
		all = append(all, node)
	}
	return all, nil
}
