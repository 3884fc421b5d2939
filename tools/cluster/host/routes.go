package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// Route is a destination this host knows a way to, and the interface it leads through.
type Route struct {
	Interface string
	To        netip.Prefix
}

// Routes returns the host's IPv4 routes.
func Routes() ([]Route, error) {
	file, err := os.Open("/proc/net/route")
	if err != nil {
		return nil, fmt.Errorf("reading the routes: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing can be lost
	return parseRoutes(file)
}

// parseRoutes reads /proc/net/route, where addresses and masks are in hexadecimal, in the byte
// order of a little-endian machine.
func parseRoutes(table io.Reader) ([]Route, error) {
	var routes []Route
	lines := bufio.NewScanner(table)
	for first := true; lines.Scan(); first = false {
		fields := strings.Fields(lines.Text())
		if first || len(fields) < 8 {
			continue
		}
		to, err := strconv.ParseUint(fields[1], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("reading the routes: %w", err)
		}
		mask, err := strconv.ParseUint(fields[7], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("reading the routes: %w", err)
		}
		var addr [4]byte
		binary.LittleEndian.PutUint32(addr[:], uint32(to))
		routes = append(routes, Route{
			Interface: fields[0],
			To:        netip.PrefixFrom(netip.AddrFrom4(addr), bits.OnesCount32(uint32(mask))),
		})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the routes: %w", err)
	}
	return routes, nil
}
