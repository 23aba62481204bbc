package instrtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/texel"

	"github.com/stretchr/testify/require"
)

// image is a texture or surface of an instruction file:
//
//	//! texture 2d 4x3 f32 linear normalized wrap : 0..11
//	//! surface a1d 8x2 u8x4 : 64*0
//	//! holds u8 1 2 3 …        what the surface before must hold in the end
//
// First the geometry (1d 2d 3d a1d a2d cube acube, or row for linear memory), its
// extents with layers last, the format of a channel and how many there are; then
// how a texture is sampled: linear, normalized, floats (integers read as floats), one of
// wrap clamp mirror border, clamp when not given, and border=C for a colour; then
// the texels. Handles are parameters behind the ins.
type image struct {
	surface bool
	layout  texel.Layout
	desc    texel.Desc
	row     bool
	texels  values
	holds   *values
}

var texelFormats = map[string]texel.Format{
	"u8": texel.U8, "u16": texel.U16, "u32": texel.U32, "s8": texel.S8,
	"s16": texel.S16, "s32": texel.S32, "f16": texel.F16, "f32": texel.F32,
}

func parseImage(fields []string) (*image, error) {
	colon := 0
	for colon < len(fields) && fields[colon] != ":" {
		colon++
	}
	if colon < 4 || colon == len(fields) {
		return nil, errors.New("needs a geometry, extents, a format, \":\" and texels")
	}
	m := &image{surface: fields[0] == "surface"}
	if err := m.parseExtents(fields[1], fields[2]); err != nil {
		return nil, err
	}
	format, channels, _ := strings.Cut(fields[3], "x")
	m.layout.Channels = 1
	if channels != "" {
		m.layout.Channels, _ = strconv.Atoi(channels)
	}
	var ok bool
	if m.layout.Format, ok = texelFormats[format]; !ok {
		return nil, fmt.Errorf("format %s is unknown", format)
	}
	if err := m.parseSampling(fields[4:colon]); err != nil {
		return nil, err
	}
	var err error
	m.texels, err = parseValues(append([]string{format}, fields[colon+1:]...))
	if err == nil && int64(len(m.texels.bytes())) != m.layout.Bytes() {
		err = fmt.Errorf("%d texel values for %d bytes", len(m.texels.elems), m.layout.Bytes())
	}
	return m, err
}

func (m *image) parseExtents(geometry, extents string) error {
	var n []int
	for _, s := range strings.Split(extents, "x") {
		v, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		n = append(n, v)
	}
	t := &m.layout
	places := map[string][]*int{
		"row": {&t.Width}, "1d": {&t.Width}, "2d": {&t.Width, &t.Height}, "3d": {&t.Width, &t.Height, &t.Depth},
		"a1d": {&t.Width, &t.Layers}, "a2d": {&t.Width, &t.Height, &t.Layers},
		"cube": {&t.Width, &t.Height, &t.Layers}, "acube": {&t.Width, &t.Height, &t.Layers},
	}[geometry]
	if len(places) == 0 || len(places) != len(n) {
		return fmt.Errorf("geometry %s with extents %s is unknown", geometry, extents)
	}
	for i := range n {
		*places[i] = n[i]
	}
	m.row, t.Cube = geometry == "row", strings.HasSuffix(geometry, "cube")
	return nil
}

func (m *image) parseSampling(words []string) error {
	mode := texel.Clamp
	for _, s := range words {
		colour, isBorder := strings.CutPrefix(s, "border=")
		switch {
		case s == "linear":
			m.desc.Linear = true
		case s == "normalized":
			m.desc.Normalized = true
		case s == "floats":
			m.desc.ReadNormalized = true
		case s == "wrap":
			mode = texel.Wrap
		case s == "mirror":
			mode = texel.Mirror
		case s == "border":
			mode = texel.Border
		case isBorder:
			mode = texel.Border
			v, err := strconv.ParseFloat(colour, 32)
			if err != nil {
				return err
			}
			m.desc.Border = [4]float32{float32(v), float32(v), float32(v), float32(v)}
		case s != "clamp":
			return fmt.Errorf("sampling %s is unknown", s)
		}
	}
	m.desc.Address = [3]texel.AddressMode{mode, mode, mode}
	return nil
}

// create creates the image on the device. check compares the content of a surface at the end; it is nil if none is
// expected.
func (m *image) create(b *bench) (handle uint64, check func() string) {
	d, ok := b.Device.(texel.Device)
	require.True(b.t, ok, "the device has no textures; list the file in Options.Unsupported")
	if m.row {
		m.desc.Memory, m.desc.Layout = b.buffer(m.texels.bytes()), m.layout
		t, err := d.CreateTexture(m.desc)
		require.NoError(b.t, err)
		return uint64(t), nil
	}
	a, err := d.CreateArray(m.layout)
	require.NoError(b.t, err)
	require.NoError(b.t, d.WriteArray(a, m.texels.bytes()))
	if !m.surface {
		m.desc.Array = a
		t, err := d.CreateTexture(m.desc)
		require.NoError(b.t, err)
		return uint64(t), nil
	}
	s, err := d.CreateSurface(a)
	require.NoError(b.t, err)
	return uint64(s), func() string {
		if m.holds == nil {
			return ""
		}
		got := make([]byte, m.layout.Bytes())
		require.NoError(b.t, d.ReadArray(got, a))
		return m.holds.diff(m.holds.from(got))
	}
}
