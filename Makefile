# `make` alone prints the targets. Every target that works on modules takes M=DIR to narrow it to one:
# make test M=operators/workloads
MODULES := shared operators/workloads operators/sidecar operators/jobs operators/image operators/policy \
	operators/distribution webhook daemon tools tools/codegen e2e
M ?= $(MODULES)

# Programs with dependencies of their own are built into bin.
BIN := $(CURDIR)/bin
TESTSUM := $(BIN)/testsum
CLUSTER := $(BIN)/cluster
IMAGES := $(BIN)/images
DEMO := $(BIN)/demo
CONTROLLER_GEN := $(BIN)/controller-gen
LINT := $(BIN)/golangci-lint
TOTALS := $(BIN)/test-totals.json

# Arguments of go test, for example T='-run TestPlan -count 1'.
T ?= -timeout 20m
# The cluster of the end-to-end tests, and the one of `make cluster`.
E2E_CLUSTER := flotilla-e2e
PLAY_CLUSTER := flotilla
# Real nodes need root: network namespaces, mounts, control groups.
NODES := $(if $(filter 0,$(shell id -u)),--nodes=2,--nodes=0 --simulated=3)
TAG ?= dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: help
help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /  \1|/p' $(MAKEFILE_LIST) | column -t -s '|'

# Build ---------------------------------------------------------------------------------------------

.PHONY: build
build: ## Compile and vet every module, in the workspace and alone
	@for m in $(filter-out tools/%,$(M)); do echo "== $$m"; go build -C $$m ./... || exit 1; done
	@for m in $(M); do echo "== $$m, alone"; GOWORK=off go vet -C $$m ./... || exit 1; done

.PHONY: images
images: $(IMAGES) ## Build the container images as tarballs into dist
	@$(IMAGES) build --tag $(TAG) --output dist

# Test ----------------------------------------------------------------------------------------------

.PHONY: test
test: ## Run every test: units, properties, real API server, and end to end on a real cluster
ifeq ($(M),$(MODULES))
	@rm -f $(TOTALS)
	@$(MAKE) build
	@FLOTILLA_CLUSTER_TEST=1 $(MAKE) run-tests M="$(filter-out e2e,$(MODULES))" SUM="-totals $(TOTALS) -more"
	@$(MAKE) e2e SUM="-totals $(TOTALS) -more"
	@$(TESTSUM) -totals $(TOTALS)
else
	@$(MAKE) run-tests
endif

# run-tests runs all tests of the chosen modules; those that need a real API server find its programs.
.PHONY: run-tests
run-tests: $(TESTSUM) $(CLUSTER)
	@KUBEBUILDER_ASSETS="$$($(CLUSTER) build etcd kubernetes | tail -n 1)" && export KUBEBUILDER_ASSETS && \
		$(TESTSUM) $(SUM) $(M) -- $(T)

.PHONY: property
property: $(TESTSUM) ## Run the property tests alone, each with ten times the usual number of cases
	@$(TESTSUM) $(foreach m,$(filter-out e2e,$(M)),$(call packages-with,$(m),rapid.Check)) -- \
		-run "^($$(grep -rlF --include='*_test.go' rapid.Check $(M) | xargs sed -n 's/^func \(Test[A-Za-z0-9]*\).*/\1/p' | paste -sd'|'))$$" \
		-rapid.checks=1000 $(T)

.PHONY: envtest
envtest: $(TESTSUM) $(CLUSTER) ## Run the packages whose tests need a real API server
	@KUBEBUILDER_ASSETS="$$($(CLUSTER) build etcd kubernetes | tail -n 1)" && export KUBEBUILDER_ASSETS && \
		$(TESTSUM) $(foreach m,$(filter-out e2e,$(M)),$(call packages-with,$(m),testenv.New)) -- $(T)

# packages-with lists the packages of a module whose tests contain a text, as an argument of testsum:
# DIR:./a,./b. Nothing if there is none.
packages-with = $(shell cd $(1) && grep -rlF --include='*_test.go' '$(2)' . | xargs -r -n 1 dirname | sort -u | paste -sd, | sed 's|^.|$(1):&|')

.PHONY: e2e
e2e: $(TESTSUM) $(CLUSTER) $(DEMO) ## Run the end-to-end tests on a local cluster: real nodes as root, else simulated ones
	@trap '$(DEMO) down --name $(E2E_CLUSTER) >&2' EXIT; \
		KUBECONFIG="$$($(CLUSTER) up --name $(E2E_CLUSTER) $(NODES))" && export KUBECONFIG && \
		$(DEMO) install --name $(E2E_CLUSTER) >&2 && \
		$(TESTSUM) $(SUM) e2e -- -count 1 -timeout 40m

.PHONY: kubebuilder-assets
kubebuilder-assets: $(CLUSTER) ## Build etcd and kube-apiserver and print their directory, for KUBEBUILDER_ASSETS
	@$(CLUSTER) build etcd kubernetes | tail -n 1

# Code ----------------------------------------------------------------------------------------------

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Write deep copies, CRDs and roles from API types and markers
	@GOWORK=off go run -C tools/codegen .
	@cd operators/workloads && GOWORK=off $(CONTROLLER_GEN) rbac:roleName=kruise-workloads paths=./... \
		paths=github.com/flotilla-k8s/flotilla/shared/operator output:rbac:dir=../../deploy/base/workloads

.PHONY: fmt
fmt: ## Format all Go code
	@gofmt -w $(M)

.PHONY: tidy
tidy: ## Bring go.mod and go.sum of every module, and go.work.sum, up to date
	@for m in $(M); do GOWORK=off go mod tidy -C $$m || exit 1; done
	@go work sync

.PHONY: lint
lint: $(LINT) ## Run the linters
	@for m in $(M); do echo "== $$m"; (cd $$m && GOWORK=off $(LINT) run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

.PHONY: verify
verify: generate tidy ## Fail if generated files or go.mod/go.sum are stale
	@test -z "$$(gofmt -l $(MODULES))" || { echo "not formatted:"; gofmt -l $(MODULES); exit 1; }
	@git diff --exit-code && test -z "$$(git ls-files --others --exclude-standard)"

# Run -----------------------------------------------------------------------------------------------

.PHONY: cluster
cluster: $(CLUSTER) ## Bring up a local cluster to play with, and print its kubeconfig
	@$(CLUSTER) up --name $(PLAY_CLUSTER) $(NODES)

.PHONY: cluster-down
cluster-down: $(CLUSTER) ## Remove the local cluster
	@$(CLUSTER) down --name $(PLAY_CLUSTER)

.PHONY: demo
demo: $(DEMO) ## Show an image swapped in place under load, on a real two-node cluster
	@$(DEMO)

.PHONY: deploy
deploy: ## Install into the cluster of the current kubectl context
	@kubectl apply --server-side -k deploy/overlays/default

# Programs of tools. They are cheap to build again, so the go command decides whether they are stale.
.PHONY: FORCE
FORCE:
$(TESTSUM) $(CLUSTER) $(IMAGES) $(DEMO): $(BIN)/%: FORCE
	@GOWORK=off go build -C tools -o $@ ./$*
$(CONTROLLER_GEN): tools/codegen/go.mod
	@GOWORK=off go build -C tools/codegen -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen
$(LINT): tools/lint/go.mod
	@echo "building golangci-lint, which takes some minutes" >&2
	@GOWORK=off go build -C tools/lint -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
