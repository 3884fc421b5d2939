// Package jobs will hold the controllers of BroadcastJobs, AdvancedCronJobs and EphemeralJobs.
// README.md beside this file says what belongs here.
package jobs
