// Package operator knows how a process that runs controllers starts: flags, logging, leader election,
// caches, metrics, probes, and when a controller may begin.
//
// Nothing of a controller runs before three things are true (WH-135, DEP-199, DEP-200): no reference
// manager holds its lease, the controller's own kind is served, and the webhook service answers for the
// hooks the family depends on. An operator that waits is alive and not ready, and says in its log and on
// /readyz what it waits for; it never exits for that. Once it has begun, an outage of the webhook does
// not stop it.
//
// A replica that is not the leader sets nothing up, so it holds no caches: a standby costs little memory
// and a takeover costs one list of each kind.
package operator
