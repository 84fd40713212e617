#!/usr/bin/env bash
# The figures of bench/predict/forecasts.py of applications that are recorded anew, each five times: some 75 minutes.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$HALCYON_PYTHON" "$HALCYON_ROOT/bench/predict/forecasts.py" --anew
