package loadgen

import "testing"

func TestControlAddress(t *testing.T) {
	cases := map[string]bool{
		"127.0.0.1:80":           true,
		"[::1]:80":               true,
		"10.244.1.7:8080":        true,
		"[::ffff:10.0.0.1]:80":   true,
		"8.8.8.8:53":             false,
		"[fe80::1%eth0]:80":      false,
		"[::ffff:8.8.8.8]:80":    false,
		"/run/containerd.socket": false,
	}
	for address, want := range cases {
		if err := controlAddress("tcp", address, nil); (err == nil) != want {
			t.Errorf("error for %s is %v, want allowed %t", address, err, want)
		}
	}
}
