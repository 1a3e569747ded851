#!/usr/bin/env bash
# run.sh PART [GROUP...]: tests the CUDA ops on this machine's GPU; without words it says how (run.py).
exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
