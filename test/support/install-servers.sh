#!/bin/sh
# What a cluster is tried with: servers of NATS and a store, built of their modules, and networks of its own.
set -eu

# A store that speaks S3 (support/versitygw.ts), built of its module, which takes some minutes.
store="${TMPDIR:-/tmp}/framering-versitygw"
if ! [ -x "$store/bin/versitygw" ]; then
  GOBIN="$store/bin" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 >/dev/null 2>&1 ||
    echo "versitygw could not be built (it needs Go and its modules): what it judges will be skipped" >&2
fi

# Servers of a cluster (support/nats-servers.ts), built of their module: Debian's know no batches.
servers="${TMPDIR:-/tmp}/framering-nats-server"
if ! [ -x "$servers/bin/nats-server" ]; then
  GOBIN="$servers/bin" go install github.com/nats-io/nats-server/v2@v2.15.2 >/dev/null 2>&1 ||
    echo "nats-server could not be built (it needs Go and its modules): what it judges will be skipped" >&2
fi

if ! { command -v ip && command -v tc; } >/dev/null 2>&1; then
  { [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends iproute2; } >/dev/null 2>&1 ||
    echo "iproute2 is missing: what needs networks of its own will be skipped" >&2
fi
