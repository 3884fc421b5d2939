package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// counts is the result of some tests.
type counts struct {
	Passed, Failed, Skipped int
}

func (c counts) plus(o counts) counts {
	return counts{Passed: c.Passed + o.Passed, Failed: c.Failed + o.Failed, Skipped: c.Skipped + o.Skipped}
}

// String is the closing line.
func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

// readCounts returns what earlier runs left in a file; no name or no file is nothing.
func readCounts(file string) (counts, error) {
	if file == "" {
		return counts{}, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return counts{}, nil
	}
	if err != nil {
		return counts{}, fmt.Errorf("reading totals: %w", err)
	}
	var c counts
	if err := json.Unmarshal(data, &c); err != nil {
		return counts{}, fmt.Errorf("reading totals from %s: %w", file, err)
	}
	return c, nil
}

func writeCounts(file string, c counts) error {
	if file == "" {
		return nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding totals: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("writing totals: %w", err)
	}
	return nil
}
