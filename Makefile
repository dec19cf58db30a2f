# Short names for what CONTRIBUTING.md explains. Everything is plain go underneath.

GO      ?= go
LINT     = $(GO) tool -modfile=tools/go.mod golangci-lint
FUZZTIME ?= 30s
SURVIVE  = Survive|Damage|Crash|Kill|Storm|Maintenance|Synced|LocksStay|PackRemoved

# urfave/cli can write its help as Markdown and manual pages, which ours does itself;
# only this tag leaves the Markdown renderer for that out of the program.
TAGS    ?= urfave_cli_no_docs

.PHONY: build test race lint fmt fuzz mutation systems gittests snapshot bench bench-peers survive audit screenshots site demo ci

# One static binary.
build:
	CGO_ENABLED=0 $(GO) build -tags '$(TAGS)' -trimpath -ldflags '-s -w' -o bin/git-agentxchain ./cmd/git-agentxchain

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

lint:
	$(LINT) run
	.ci/deadcode

fmt:
	$(LINT) fmt

# Every fuzz target for FUZZTIME each.
fuzz:
	.ci/fuzz $(FUZZTIME)

# Breaks the engine one rule at a time; the conformance corpus must notice. Minutes.
mutation:
	$(GO) run ./fixtures/mutate

# What other systems run compiles and is vetted, with its tests.
systems:
	for s in windows/amd64 windows/arm64 darwin/amd64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) vet ./... || exit 1; done

# What talks to git, with the git that is here: CI runs it with other versions than .ci/run has.
gittests:
	git --version
	AGENTXCHAIN_TESTS=all $(GO) test -timeout 40m ./gitstore/... ./hooks/... ./runner/... ./coordinator ./restore/... ./dispatch ./internal/cli/...

# A whole release without a tag, whose files are then used. Minutes.
snapshot:
	.ci/snapshot

# Measurements; they take minutes and are not part of the tests.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./bench/...

# The same work beside peers that are on PATH.
bench-peers:
	$(GO) test -run '^$$' -bench 'Peers$$' -benchtime 15x ./bench

# The long forms of what docs/durability.md counts: faults, kills, power cuts, load. Hours,
# and not part of the tests.
survive:
	AGENTXCHAIN_LONG_TESTS=1 $(GO) test -count=1 -timeout 24h -v -run '$(SURVIVE)' ./...

# Weaknesses: modules that are not what go.sum says, what gosec finds beside the rules that .golangci.yml judges, and
# those of what is linked that are known. The last needs the network: the database is at vuln.go.dev.
audit:
	$(GO) mod verify
	$(GO) tool -modfile=tools/go.mod golangci-lint run --allow-parallel-runners --enable-only gosec --tests=false
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# The pictures of docs/dashboard.md, from projects made for them. Needs Chromium.
screenshots:
	$(GO) test -count=1 -run TestBrowserTakesPictures ./dashboard -screenshots

# The documentation as a site, below public/; any web server shows it.
site:
	$(GO) run ./docs/site public

demo:
	$(GO) run ./cmd/git-agentxchain demo

ci:
	.ci/run
