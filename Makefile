# Short names for what CONTRIBUTING.md explains. Everything is plain go underneath.

GO      ?= go
LINT     = $(GO) tool -modfile=tools/go.mod golangci-lint
FUZZTIME ?= 30s
CRASH    = Crash|Kill|Storm|Maintenance|Synced|LocksStay|PackRemoved

# urfave/cli can write its help as Markdown and manual pages, which ours does itself;
# only this tag leaves the Markdown renderer for that out of the program.
TAGS    ?= urfave_cli_no_docs

.PHONY: build test race lint fmt fuzz mutation bench crash screenshots demo ci

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

# Measurements; they take minutes and are not part of the tests.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./bench/...

# Kills at random and at named moments, git's housekeeping beside everything, and power
# cuts; long, and not part of the tests.
crash:
	AGENTXCHAIN_LONG_TESTS=1 $(GO) test -count=1 -timeout 60m -run '$(CRASH)' ./...

# The pictures of docs/dashboard.md, from projects made for them. Needs Chromium.
screenshots:
	$(GO) test -count=1 -run TestTakePictures ./dashboard -screenshots

demo:
	$(GO) run ./cmd/git-agentxchain demo

ci:
	.ci/run
