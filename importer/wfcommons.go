package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parseWfCommons reads a workflow instance in WfFormat (Coleman et al., "WfCommons: A
// framework for enabling scientific workflow research and development", FGCS 2022), of
// versions 1.0 to 1.6. The tasks with their run times are in workflow.jobs up to version 1.2 and in
// workflow.tasks up to 1.4. Since then workflow.specification.tasks contains the dependencies and
// workflow.execution.tasks the run times. Times are in seconds. If no task names its parents or children,
// dependencies follow from files: a task that reads a file depends on the task that writes it.
func parseWfCommons(d *draft) error {
	if err := json.Unmarshal([]byte(d.src), new(json.RawMessage)); err != nil {
		var syntax *json.SyntaxError
		errors.As(err, &syntax)
		return d.errorf(max(0, int(syntax.Offset)-1), "%v", err)
	}
	w := workflow{draft: d, dec: json.NewDecoder(strings.NewReader(d.src)), byName: map[string]int32{}, times: map[string]timing{}}
	if err := w.value(nil); err != nil {
		return err
	}
	return w.connect()
}

// workflow is the state of the parser. It reads the decoder's tokens one by one, because errors need the positions of
// tasks.
type workflow struct {
	*draft
	dec    *json.Decoder
	listed bool // the file contains a list of tasks, possibly empty
	read   []wfTask
	byName map[string]int32 // the task of that name, -1 if there are several
	times  map[string]timing
}

// timing is the run time of a task and its position in the text.
type timing struct {
	ns int64
	at int
}

// wfTask is a task in any version of the format.
type wfTask struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Parents          []string `json:"parents"`
	Children         []string `json:"children"`
	Runtime          *float64 `json:"runtime"`
	RuntimeInSeconds *float64 `json:"runtimeInSeconds"`

	Files       []wfFile `json:"files"` // up to version 1.4
	InputFiles  []string `json:"inputFiles"`
	OutputFiles []string `json:"outputFiles"`

	at int
}

// wfFile is a file that a task reads or writes.
type wfFile struct {
	Path, Name string
	Link       string // input or output
}

// files returns the names of the files that the task reads and writes.
func (t *wfTask) files() (in, out []string) {
	in, out = t.InputFiles, t.OutputFiles
	for _, f := range t.Files {
		if strings.EqualFold(f.Link, "input") {
			in = append(in, f.Path+f.Name)
		} else {
			out = append(out, f.Path+f.Name)
		}
	}
	return in, out
}

// taskLists are the paths of the arrays of tasks.
var taskLists = map[string]func(*workflow, *wfTask) error{
	"workflow.tasks":               (*workflow).declare,
	"workflow.jobs":                (*workflow).declare,
	"workflow.specification.tasks": (*workflow).declare,
	timesOnly:                      (*workflow).timed,
}

// timesOnly is the path of the list that contains run times but no dependencies.
const timesOnly = "workflow.execution.tasks"

// value reads the value at a path. It skips values that cannot contain tasks.
func (w *workflow) value(path []string) error {
	key := strings.Join(path, ".")
	if each, ok := taskLists[key]; ok {
		w.listed = w.listed || key != timesOnly
		return w.list(key, each)
	}
	leads := key == "" || key == "workflow" || key == "workflow.specification" || key == "workflow.execution"
	if !leads {
		return w.dec.Decode(new(json.RawMessage))
	}
	if err := w.open('{', key); err != nil {
		return err
	}
	for w.dec.More() {
		name, err := w.dec.Token()
		if err != nil {
			return err
		}
		if err := w.value(append(path, fmt.Sprint(name))); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// list reads an array of tasks.
func (w *workflow) list(key string, each func(*workflow, *wfTask) error) error {
	if err := w.open('[', key); err != nil {
		return err
	}
	for w.dec.More() {
		t := wfTask{at: w.offset()}
		if err := w.dec.Decode(&t); err != nil {
			return w.mistyped(t.at, err)
		}
		if t.ID == "" {
			t.ID = t.Name
		}
		if t.ID == "" {
			return w.errorf(t.at, "a task has neither an id nor a name")
		}
		if err := each(w, &t); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// open reads the opening bracket of the value at key.
func (w *workflow) open(bracket json.Delim, key string) error {
	at := w.offset()
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	if t != bracket {
		if key == "" {
			key = "a workflow"
		}
		return w.errorf(at, "%s must begin with %v", key, bracket)
	}
	return nil
}

// offset returns the offset of the next value.
func (w *workflow) offset() int {
	at := int(w.dec.InputOffset())
	rest := w.src[at:]
	return at + len(rest) - len(strings.TrimLeft(rest, " \t\r\n,:"))
}

// declare adds a task, with its run time if the text contains it.
func (w *workflow) declare(t *wfTask) error {
	if _, ok := w.index[t.ID]; ok {
		return w.errorf(t.at, "task %s occurs twice", t.ID)
	}
	i := w.task(t.ID)
	if t.Name != "" {
		if _, ok := w.byName[t.Name]; ok {
			i = -1
		}
		w.byName[t.Name] = i
	}
	w.read = append(w.read, *t)
	return w.timed(t)
}

// timed stores the run time of a task, which may be declared later.
func (w *workflow) timed(t *wfTask) error {
	seconds := t.RuntimeInSeconds
	if seconds == nil {
		seconds = t.Runtime
	}
	if seconds == nil {
		return nil
	}
	ns, err := w.cost(t.at, *seconds*1e9)
	w.times[t.ID] = timing{ns, t.at}
	return err
}

// connect adds run times and arcs after all tasks have been declared. Dependencies are given by
// parents, by children, or by both.
func (w *workflow) connect() error {
	if !w.listed {
		return w.errorf(0, "it contains neither workflow.tasks nor workflow.specification.tasks: write the dependencies as WfFormat defines them")
	}
	for _, id := range slices.Sorted(maps.Keys(w.times)) {
		i, ok := w.index[id]
		if !ok {
			return w.errorf(w.times[id].at, "there is no task %s", id)
		}
		w.tasks[i].cost = w.times[id].ns
	}
	for i := range w.read {
		if err := w.relatives(&w.read[i]); err != nil {
			return err
		}
	}
	if len(w.arcs) == 0 {
		return w.followFiles()
	}
	return nil
}

// followFiles makes each task that reads a file depend on the first task that writes it.
func (w *workflow) followFiles() error {
	writer := map[string]int32{}
	for i := range w.read {
		_, out := w.read[i].files()
		for _, name := range out {
			if _, ok := writer[name]; !ok {
				writer[name] = w.index[w.read[i].ID]
			}
		}
	}
	for i := range w.read {
		in, _ := w.read[i].files()
		reader := w.index[w.read[i].ID]
		for _, name := range in {
			if from, ok := writer[name]; ok && from != reader {
				if err := w.arc(from, reader, w.read[i].at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// relatives adds the arcs of a task.
func (w *workflow) relatives(t *wfTask) error {
	i := w.index[t.ID]
	w.tasks[i].label = t.Name
	for _, p := range t.Parents {
		from, err := w.named(p, t.at)
		if err != nil {
			return err
		}
		if err := w.arc(from, i, t.at); err != nil {
			return err
		}
	}
	for _, c := range t.Children {
		to, err := w.named(c, t.at)
		if err != nil {
			return err
		}
		if err := w.arc(i, to, t.at); err != nil {
			return err
		}
	}
	return nil
}

// named returns the task with an id, or with a name in older versions of the format.
func (w *workflow) named(name string, at int) (int32, error) {
	if i, ok := w.index[name]; ok {
		return i, nil
	}
	i, ok := w.byName[name]
	switch {
	case !ok:
		return 0, w.errorf(at, "there is no task %s", name)
	case i < 0:
		return 0, w.errorf(at, "there are several tasks called %s", name)
	}
	return i, nil
}

// mistyped returns an error that names the field of a task that has a wrong type.
func (w *workflow) mistyped(at int, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return w.errorf(at, "the %s of a task cannot be a %s", wrong.Field, wrong.Value)
	}
	return w.errorf(at, "this is not a task: %v", err)
}
