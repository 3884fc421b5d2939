// Command testsum runs the tests of several modules one after the other and closes with one line of
// counts.
//
//	testsum [flags] DIR... [-- FLAGS OF GO TEST]
//
// A DIR is the directory of a module; DIR:PATTERN,PATTERN names packages in it. Each module is tested as
// its users build it, outside the workspace. Passing packages print one line, failing tests their whole
// output, skipped tests their reason. Counted are the tests without subtests; a package that does not
// build, or ends before its tests do, counts as one failure.
//
// Several runs add up with --totals FILE: each but the last is given --more and keeps its closing line
// to itself while nothing fails; a run without any DIR only prints the sum.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintln(os.Stderr, "testsum:", err)
		}
		os.Exit(1)
	}
}

// errFailed says that tests failed, which the output has told already.
var errFailed = errors.New("tests failed")

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	totalsFile := flags.String("totals", "", "file with the counts of earlier runs, to which those of this run are added")
	more := flags.Bool("more", false, "other runs follow: print the closing line only if something failed")
	args, goFlags := splitAtDashes(args)
	if err := flags.Parse(args); err != nil {
		return err
	}
	sum, err := readCounts(*totalsFile)
	if err != nil {
		return err
	}
	if *totalsFile == "" && flags.NArg() == 0 {
		return errors.New("nothing to test: no module was named")
	}
	for _, target := range flags.Args() {
		counts, err := testModule(ctx, parseTarget(target), goFlags, os.Stdout)
		if err != nil {
			return err
		}
		sum = sum.plus(counts)
	}
	if err := writeCounts(*totalsFile, sum); err != nil {
		return err
	}
	if !*more || sum.Failed > 0 {
		fmt.Println(sum)
	}
	if sum.Failed > 0 {
		return errFailed
	}
	return nil
}

// splitAtDashes separates the arguments before a lone "--" from those after it.
func splitAtDashes(args []string) (own, goFlags []string) {
	for i, arg := range args {
		if arg == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}
