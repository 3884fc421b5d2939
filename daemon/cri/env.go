package cri

import (
	"encoding/json"
	"strings"
)

// infoKey is where containerd and CRI-O put the details of a container, as one JSON document.
const infoKey = "info"

// details is the part of that document that is read: the OCI spec.
type details struct {
	RuntimeSpec *struct {
		Process *struct {
			Env []string `json:"env"`
		} `json:"process"`
	} `json:"runtimeSpec"`
}

// envOfInfo reads the environment from the details of a container's status. It reports false when the
// runtime does not tell its spec, and an error when it tells what cannot be decoded.
func envOfInfo(info map[string]string) (map[string]string, bool, error) {
	raw, found := info[infoKey]
	if !found {
		return nil, false, nil
	}
	var d details
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		return nil, false, err
	}
	if d.RuntimeSpec == nil || d.RuntimeSpec.Process == nil {
		return nil, false, nil
	}
	return parseEnv(d.RuntimeSpec.Process.Env), true, nil
}

// parseEnv reads entries of the form NAME=value. Of several entries for one name the last one counts,
// as it does for the process. Values are taken as they are.
func parseEnv(entries []string) map[string]string {
	env := make(map[string]string, len(entries))
	for _, entry := range entries {
		if name, value, found := strings.Cut(entry, "="); found {
			env[name] = value
		}
	}
	return env
}
