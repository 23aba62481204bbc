package fatbin

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ArchiveMagic is the start of a library archive.
const ArchiveMagic = "!<arch>\n"

// ErrNoDeviceCode is wrapped by the error for an object without a fatbin.
var ErrNoDeviceCode = errors.New("the object has no device code")

// Members returns the files in a library archive (System V and GNU format), without
// its tables of symbols and names.
func Members(archive []byte) (members [][]byte, err error) {
	const header = 60
	rest, ok := bytes.CutPrefix(archive, []byte(ArchiveMagic))
	if !ok {
		return nil, errors.New("not a library archive")
	}
	for len(rest) > 0 {
		if len(rest) < header {
			return nil, errors.New("the archive is cut short")
		}
		name := strings.TrimSpace(string(rest[:16]))
		size, err := strconv.ParseUint(strings.TrimSpace(string(rest[48:58])), 10, 62)
		if err != nil || size > uint64(len(rest)-header) {
			return nil, fmt.Errorf("archive member %s: %q is no size in it", name, rest[48:58])
		}
		if name != "/" && name != "//" && name != "/SYM64/" {
			members = append(members, rest[header:header+size])
		}
		rest = rest[min(header+size+size%2, uint64(len(rest))):]
	}
	return members, nil
}

// InObject returns the fatbins in a host object file. nvcc stores them in separate
// sections; that of relocatable device code is __nv_relfatbin.
func InObject(object []byte) (fatbins [][]byte, err error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"__nv_relfatbin", ".nv_fatbin"} {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", name, err)
		}
		for len(data) >= headerSize && string(data[:4]) == Magic {
			size, err := Size(data)
			if err != nil || size > len(data) {
				return nil, errShort
			}
			fatbins = append(fatbins, data[:size])
			data = data[min((size+7)&^7, len(data)):]
		}
	}
	if len(fatbins) == 0 {
		return nil, ErrNoDeviceCode
	}
	return fatbins, nil
}
