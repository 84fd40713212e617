#!/usr/bin/env bash
# install PREFIX BUILD                    installs BUILD into an empty PREFIX
# cmake|pkg_config PREFIX WORK CC MPIRUN… builds outside.c in WORK against PREFIX and runs it on two ranks
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
way=$1 prefix=$2 work=$3
shift 3

if [[ $way == install ]]; then
    rm -rf "$prefix"
    cmake --install "$work" --prefix "$prefix"
    exit
fi

mpicc=$1
shift
rm -rf "$work"
mkdir -p "$work"
cd "$work"
case $way in
    cmake)
        cmake -S "$here/cmake" -B . -DCMAKE_PREFIX_PATH="$prefix" -DMPI_C_COMPILER="$mpicc"
        cmake --build .
        ;;
    pkg_config)
        pc=$(dirname "$(find "$prefix" -name halcyon.pc)")
        export PKG_CONFIG_PATH=$pc
        # Word splitting is wanted: these are lists of options. A plain compiler: MPI comes from the .pc file, too.
        # shellcheck disable=SC2046
        cc -Wall -Werror "$here/outside.c" -o outside $(pkg-config --cflags --libs halcyon) \
            -Wl,-rpath,"$(pkg-config --variable=libdir halcyon)"
        ;;
esac

# Neither the build tree nor the environment may help it: what it needs comes from the prefix.
unset LD_LIBRARY_PATH HALCYON_MODULE_PATH
ldd outside | grep -F "$prefix"
cp "$here/outside.yaml" .
"$@" -n 2 ./outside outside.yaml

# Both ranks' values are there, read by a tool that does not know Halcyon.
values=$(h5dump -y -w 0 -d /temperature output/outside.h5)
for first in '0, 1, 2, 3' '100, 101, 102, 103'; do
    grep -qF "$first" <<<"$values" || {
        echo "the stored temperature lacks $first:"
        echo "$values"
        exit 1
    }
done
