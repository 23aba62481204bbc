package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/ir"
)

// Network is a network for Build.
type Network struct {
	Name, Doc string
	build     func(*tape)
}

var networks = []Network{
	{"resnet-50", "He et al., CVPR 2016: bottlenecks with a shortcut", resNet50},
	{"inception-v3", "Szegedy et al., CVPR 2016: modules of up to six branches", inceptionV3},
	{"nasnet-a-mobile", "Zoph et al., CVPR 2018: 4 @ 1056, cells of five sums of two branches", nasNetAMobile},
	{"nasnet-a-large", "the same, 6 @ 4032", nasNetALarge},
	{"amoebanet-a", "Real et al., AAAI 2019: cells found by evolution, 14 of them", amoebaNetA},
	{"darts", "Liu et al., ICLR 2019: cells found by gradient descent, 14 of them", darts},
}

// Networks lists the networks, in a suitable order for readers.
func Networks() []Network { return networks }

// Build returns the network with the given name, with costs for the device with profile p.
func Build(name string, p *model.Profile) (*ir.Graph, error) {
	i := slices.IndexFunc(networks, func(n Network) bool { return n.Name == name })
	if i < 0 {
		names := make([]string, len(networks))
		for i, n := range networks {
			names[i] = n.Name
		}
		return nil, fmt.Errorf("no network is called %q%s: there are %s", name, phrase.DidYouMean(name, names), strings.Join(names, ", "))
	}
	t := &tape{device: p}
	networks[i].build(t)
	return &ir.Graph{Name: name, Ops: t.ops}, nil
}
