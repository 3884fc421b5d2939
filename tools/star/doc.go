// Package star holds the test that keeps dependencies between modules a star: every arrow points at
// shared, and two parts meet only in the API (DEP-210).
package star
