// Command survey counts what a reader of this module meets: the exported names of each importable
// package, lines of code and of comments, and the words and longest sentence of each page.
//
//	go run ./cmd/survey [-packages] [-max N] [ROOT]
//
// With -max it exits with status 1 if importable packages export more than N names.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	perPackage := flag.Bool("packages", false, "print a row for each importable package as well")
	maxExported := flag.Int("max", 0, "fail if importable packages export more names than this; 0 is no limit")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	if err := report(os.Stdout, root, *perPackage, *maxExported); err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

// report prints the figures. It returns an error if importable packages export more than maxExported names. A
// maxExported of 0 means no limit.
func report(out io.Writer, root string, perPackage bool, maxExported int) error {
	packages, err := readPackages(root)
	if err != nil {
		return err
	}
	pages, err := readPages(root)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintln(w, "area\tpackages\timportable\texported\tcode\tcomment\tshare\ttests\t")
	for _, a := range byArea(packages) {
		printPackage(w, a)
	}
	if perPackage {
		fmt.Fprintln(w, "package\t\t\t\t\t\t\t\t")
		for _, p := range packages {
			if p.importable > 0 {
				printPackage(w, p)
			}
		}
	}
	fmt.Fprintln(w, "page\twords\tsentences\tlongest\t\t\t\t\t")
	for _, p := range pages {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t\t\t\t\t\n", p.path, p.words, p.sentences, p.longest)
	}
	return checkNames(packages, maxExported)
}

// checkNames returns an error if the packages export more than maxExported names. A maxExported of 0 means no limit.
func checkNames(packages []counts, maxExported int) error {
	if n := exportedIn(packages); maxExported > 0 && n > maxExported {
		return fmt.Errorf("importable packages export %d names, and the limit is %d: unexport some, or move them below internal", n, maxExported)
	}
	return nil
}

func printPackage(w *tabwriter.Writer, c counts) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%d\t\n",
		c.path, c.packages, c.importable, c.exported, c.code, c.comment, c.share(), c.tests)
}
