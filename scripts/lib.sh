# Sourced by the scripts beside it: where things are, how messages look, how MPI behaves here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
venv=$root/.venv

say() { printf '==> %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Open MPI refuses root, and more ranks than cores, unless told; containers have one, laptops the other.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# What does not depend on MPI compiles to the same in every preset: let ccache see it, whatever the build folder.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
# Without these, ccache leaves alone what uses precompiled headers. They give up nothing: the macros that change such
# headers are options, which ccache compares, and no file says __TIME__.
export CCACHE_SLOPPINESS=pch_defines,time_macros
# Where most is compiled for the first time, ccache need not preprocess it to find that out: what was compiled before is
# known by its files alone, though not where only a comment has changed.
[[ ! ${CI:-} ]] || export CCACHE_DEPEND=1
