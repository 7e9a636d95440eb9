#!/bin/sh
# alerts.sh: the alert rules are valid and pass their unit tests; the dashboards ask only for what there is.
# Ends with 0 if so, 1 if not, 77 where promtool is not installed.
set -eu
cd "$(dirname "$0")/../.."
command -v promtool >/dev/null || {
    echo "SKIPPED: promtool is not installed, so neither alert rules nor dashboards are tested"
    exit 77
}
promtool check rules --lint=all --lint-fatal deploy/prometheus/railwatch.rules.yml
promtool test rules deploy/prometheus/railwatch.rules.test.yml
exec python3 tests/dashboards/check.py
