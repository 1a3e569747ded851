#!/bin/sh
# sbatch slurm.sh: each node builds the bundle on its own disk, and takes from a folder of the cluster what another node has
# compiled. CACHE: that folder, which one user writes and all may read.
#SBATCH --job-name=dsbuild
#SBATCH --nodes=1
#SBATCH --cpus-per-task=16
set -e
: "${CACHE:?a folder that all nodes mount}" "${OPS:=all}" "${ARCH:=8.0;9.0+PTX}"
node=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/dsbuild-$(id -u)
dsbuild --ops "$OPS" --arch "$ARCH" --remote "file://$CACHE" --cache-dir "$node/cache" --build-dir "$node/build" --out "$node/out"
dsbuild verify "$node/out"
