package server

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/flotilla-k8s/flotilla/webhook/protect"
)

// protectionLog is the name of the file (WH-123).
const protectionLog = "protection.log"

// openRecord opens the protection log for the life of the process. A log that cannot be written is an
// error: refusals must leave a trace (DEP-192).
func openRecord(opts Options) (*protect.Record, error) {
	path := filepath.Join(opts.ProtectionLogPath, protectionLog)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the folder is the administrator's choice
	if err != nil {
		return nil, fmt.Errorf("opening protection log: %w", err)
	}
	return protect.NewRecord(opts.Registry, file)
}
