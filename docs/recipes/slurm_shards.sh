#!/bin/sh
# A cold build on eight nodes: each task of an array compiles its share into a folder that all nodes mount, and the last job makes
# the bundle. A task that fails costs its share alone: the last job compiles what is missing. Where the script lies:
#   export CACHE=/cluster/dsbuild PLAN=$PWD/shards.$$.json
#   tasks=$(sbatch --parsable --array=1-8 slurm_shards.sh)
#   sbatch --dependency=afterany:$tasks slurm_shards.sh
# PLAN: tasks whose sources, compilers or toolkit differ are refused by it. OUT: the bundle's folder.
#SBATCH --job-name=dsbuild
#SBATCH --nodes=1
#SBATCH --cpus-per-task=16
set -e
: "${CACHE:?a folder that all nodes mount}" "${PLAN:?a new file there}" "${OPS:=all}" "${ARCH:=8.0;9.0+PTX}" "${OUT:=dsbuild-out}"
node=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/dsbuild-$(id -u)
shard=merge
test -z "$SLURM_ARRAY_TASK_ID" || shard=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
dsbuild --ops "$OPS" --arch "$ARCH" --remote "file://$CACHE" --shard "$shard" --shard-plan "$PLAN" \
  --cache-dir "$node/cache" --build-dir "$node/build" --out "$OUT"
