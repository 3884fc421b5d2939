package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flotilla-k8s/flotilla/tools/demo/install"
	"github.com/flotilla-k8s/flotilla/tools/demo/live"
	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// load runs beside the legs.
type load struct {
	recorder *loadgen.Recorder
	stop     context.CancelFunc
	ended    chan struct{}
}

// startLoad makes a set's Service and sends requests to its address, once it answers. Simulated pods have
// nothing that could.
func (s *sailor) startLoad(ctx context.Context, set live.Set) error {
	if !s.real {
		return nil
	}
	target, err := s.service(ctx, set)
	if err != nil {
		return err
	}
	config := loadgen.Config{
		Target: target, Rate: s.rate, Concurrency: 64, Duration: 15 * time.Minute, Timeout: 3 * time.Second,
		DisableKeepAlives: true, Recorder: &loadgen.Recorder{},
	}
	s.say("Sending %d requests a second to %s, each on a connection of its own", s.rate, target)
	ctx, stop := context.WithCancel(ctx)
	s.load = &load{recorder: config.Recorder, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(s.load.ended)
		if _, err := loadgen.Run(ctx, config); err != nil {
			config.Recorder.Fail(err)
		}
	}()
	return nil
}

// stopLoad ends the load, waits for requests under way and returns the final counts; nil without a load.
func (s *sailor) stopLoad() *loadgen.Stats {
	if s.load == nil {
		return nil
	}
	s.load.stop()
	<-s.load.ended
	stats := s.stats()
	s.load = nil
	return stats
}

// service makes a set's Service and returns its URL as soon as it answers.
func (s *sailor) service(ctx context.Context, set live.Set) (string, error) {
	object, err := set.Service()
	if err != nil {
		return "", err
	}
	if err := s.objects.Apply(ctx, object); err != nil {
		return "", err
	}
	service, err := s.core.Services(live.Namespace).Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading the Service: %w", err)
	}
	target := "http://" + service.Spec.ClusterIP + "/"
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var last error
	err = install.Poll(ctx, 200*time.Millisecond, func() (bool, error) {
		last = answers(ctx, target)
		return last == nil, nil
	})
	if err != nil {
		return "", fmt.Errorf("waiting for %s to answer (%w): %w", target, last, err)
	}
	return target, nil
}

// answers returns nil if a request is answered with success.
func answers(ctx context.Context, target string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	// The body has been read; closing it can tell nothing more.
	_ = response.Body.Close()
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	return err
}
