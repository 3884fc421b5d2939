// Command cluster runs a real Kubernetes on one machine, without Docker and without an image
// registry elsewhere. Its programs are built from published Go modules.
//
// # Machines
//
// Each real node, and the control plane, is a machine: a set of namespaces for network, mounts,
// processes and host name, held by one small process. Everything of the machine is born inside.
// When the holder ends, the kernel ends every process in it, also those of pods, and with the last
// of them go mounts, interfaces, routes and iptables rules. So "down" needs to know the holders
// only, and nothing can be left by a kubelet or a plugin that was killed at the wrong moment.
//
// # Network
//
// A cluster owns a block of addresses, which its name keeps: 10.88.B.0/24 for machines,
// 10.(128+B).0.0/16 for pods and 10.(96+B).0.0/16 for Services.
//
//	host                   control-plane                       node-1, node-2, ...
//	flotillaB 10.88.B.2 -- bridge 10.88.B.1 ------------------ eth0 10.88.B.11, .12, ...
//	routes to pods         etcd, API server, controllers,      containerd, kubelet, kube-proxy,
//	and Services           scheduler, registry, kwok           bridge cni0 with the node's pods
//
// The control plane has a namespace of its own, so clusters side by side need no different ports.
// The bridge is inside it rather than on the host, so the host's forwarding rules (a Docker engine's
// DROP, for one) never see what nodes say to each other. The host has one interface and some
// routes; the API server reaches pods at their own addresses, and so does the host.
//
// No kube-proxy runs on the host: two in one network namespace would remove each other's rules, and
// rules on the host would have to be cleaned up. The host's route to Services leads to node-1, whose
// kube-proxy translates and masquerades for it as for any client that is no pod.
//
// A cluster without real nodes needs no machines and no rights. Its control plane listens on the
// loopback address, on ports of its block, and kwok plays the nodes.
//
// # Names and images
//
// There is no cluster DNS. Pods are given the address of a Service that nobody serves, so lookups
// fail at once instead of timing out, and CoreDNS can be put behind it (k8s-app=kube-dns).
//
// Every image a pod names is looked for in the cluster's own registry, whatever registry the name
// says: docker.io/flotilla/web:v1 is flotilla/web:v1 there. A missing image is missing at once.
//
// # Packages
//
// Package plan computes what a cluster consists of; lifecycle carries it out with parts (programs),
// pki, host (what the host must have), machine, process, registry and simulate; report shows it.
package main
