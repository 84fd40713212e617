#!/usr/bin/env bash
# The figures of bench/predict/prefetch_gain.py for patterns beyond those of `make bench`: some ten minutes.
exec "$HALCYON_PYTHON" "$HALCYON_ROOT/bench/predict/prefetch_gain.py" backward contiguous random
