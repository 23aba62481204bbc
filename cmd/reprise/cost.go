package main

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

const costHelp = "costs of operations: declared (modelled where none is declared), modelled (estimated from bytes and\nshapes), or measured, in a `FILE.json` of reprise explain --cost"

const iterationsHelp = "iterations that predictions assume of a loop without a declared cost, up to its next check (0: its limit)"

const alsoHelp = "also run these optional passes"

// checkCost checks --cost before any file is read.
func checkCost(cost string) error {
	switch {
	case cost == "declared", cost == "modelled", strings.HasSuffix(cost, ".json"):
		return nil
	}
	return usagef("--cost %s: declared, modelled or a FILE.json, which reprise explain --cost FILE.json writes", cost)
}

// costModel returns the cost model that --cost names, for plans of g on a device with profile p.
func costModel(cost string, g *ir.Graph, p *model.Profile) (optimizer.CostModel, error) {
	switch cost {
	case "declared":
		return nil, nil
	case "modelled":
		return costmodel.Modelled(p), nil
	}
	text, err := readFile(cost)
	if err != nil {
		return nil, fmt.Errorf("read costs: %w", err)
	}
	m, err := costmodel.ParseMeasurement(text)
	if err == nil {
		err = m.Check(g, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cost, err)
	}
	return costmodel.Measured(p, m), nil
}
