package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// errCrash is how the server ends when CRASH_AFTER asks for it.
var errCrash = errors.New("crashing as CRASH_AFTER asks")

// settings are what the environment says.
type settings struct {
	answer     answer
	port       string
	drain      time.Duration
	crash      bool
	crashAfter time.Duration
}

// answer is the body of every response, as JSON.
type answer struct {
	Version string `json:"version"`
	Pod     string `json:"pod"`
	IP      string `json:"ip"`
	Node    string `json:"node,omitempty"`
}

// readSettings takes the version from the first word of file and the rest from getenv.
func readSettings(file string, getenv func(string) string) (settings, error) {
	tag, err := os.ReadFile(file)
	if err != nil {
		return settings{}, fmt.Errorf("reading version: %w", err)
	}
	drain, err := time.ParseDuration(cmp.Or(getenv("DRAIN"), "1s"))
	if err != nil {
		return settings{}, fmt.Errorf("reading DRAIN: %w", err)
	}
	s := settings{port: cmp.Or(getenv("PORT"), "8080"), drain: drain}
	if text := getenv("CRASH_AFTER"); text != "" {
		s.crash = true
		if s.crashAfter, err = time.ParseDuration(text); err != nil {
			return settings{}, fmt.Errorf("reading CRASH_AFTER: %w", err)
		}
	}
	s.answer = answer{
		Version: strings.TrimSpace(string(tag)),
		Pod:     getenv("POD_NAME"),
		IP:      getenv("POD_IP"),
		Node:    getenv("NODE_NAME"),
	}
	if s.answer.Pod == "" {
		if s.answer.Pod, err = os.Hostname(); err != nil {
			return settings{}, fmt.Errorf("reading host name: %w", err)
		}
	}
	if s.answer.IP == "" {
		if s.answer.IP, err = ownAddress(); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// ownAddress returns the first address that others can reach, empty without a network.
func ownAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("listing addresses: %w", err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "", nil
}
