#!/usr/bin/env bash
# install PREFIX BUILD                          installs BUILD into an empty PREFIX
# cmake|pkg_config PREFIX WORK LANGUAGE MPIRUN… builds outside.c, .cpp or .f90 in WORK against PREFIX, runs it on two ranks
# turns_cmake|turns_pkg_config PREFIX WORK LANGUAGE  builds turns.c or .f90 in WORK against PREFIX, without MPI, runs it
# logs_cmake|logs_pkg_config PREFIX WORK LANGUAGE    builds logs.c or .cpp likewise, runs it
# other_mpi PREFIX WORK LANGUAGE MPICC          find_package(halcyon) refuses the MPI of MPICC
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
way=$1 prefix=$2 work=$3
shift 3

if [[ $way == install ]]; then
    rm -rf "$prefix"
    cmake --install "$work" --prefix "$prefix"
    exit
fi

language=$1
shift
rm -rf "$work"
mkdir -p "$work"
cd "$work"
case $way in
    cmake)
        cmake -S "$here/cmake" -B . -DCMAKE_PREFIX_PATH="$prefix" -DOUTSIDE="$language"
        cmake --build .
        ;;
    pkg_config)
        pc=$(dirname "$(find "$prefix" -name halcyon.pc)")
        export PKG_CONFIG_PATH=$pc
        # Plain compilers: MPI comes from the .pc file, too.
        case $language in
            C) compile=(cc -Wall -Werror "$here/outside.c") package=halcyon ;;
            CXX) compile=(c++ -std=c++20 -Wall -Werror "$here/outside.cpp") package=halcyon ;;
            Fortran) compile=(gfortran -Wall -Werror "$here/outside.f90") package=halcyon-fortran ;;
        esac
        # Word splitting is wanted: these are lists of options.
        # shellcheck disable=SC2046
        "${compile[@]}" -o outside $(pkg-config --cflags --libs $package) \
            -Wl,-rpath,"$(pkg-config --variable=libdir halcyon)"
        ;;
    turns_cmake)
        cmake -S "$here/cmake_turns" -B . -DCMAKE_PREFIX_PATH="$prefix" -DOUTSIDE="$language"
        cmake --build .
        ;;
    turns_pkg_config)
        pc=$(dirname "$(find "$prefix" -name halcyon-turns.pc)")
        export PKG_CONFIG_PATH=$pc
        case $language in
            C) compile=(cc -Wall -Werror "$here/turns.c") package=halcyon-turns ;;
            Fortran) compile=(gfortran -Wall -Werror "$here/turns.f90") package=halcyon-turns-fortran ;;
        esac
        # shellcheck disable=SC2046
        "${compile[@]}" -o outside $(pkg-config --cflags --libs $package) \
            -Wl,-rpath,"$(pkg-config --variable=libdir halcyon-turns)"
        ;;
    logs_cmake)
        cmake -S "$here/cmake_logs" -B . -DCMAKE_PREFIX_PATH="$prefix" -DOUTSIDE="$language"
        cmake --build .
        ;;
    logs_pkg_config)
        pc=$(dirname "$(find "$prefix" -name halcyon-logfs.pc)")
        export PKG_CONFIG_PATH=$pc
        case $language in
            C) compile=(cc -std=c99 -pedantic -Wall -Werror "$here/logs.c") ;;
            CXX) compile=(c++ -std=c++20 -Wall -Wextra -Werror "$here/logs.cpp") ;;
        esac
        # shellcheck disable=SC2046
        "${compile[@]}" -o outside $(pkg-config --cflags --libs halcyon-logfs) \
            -Wl,-rpath,"$(pkg-config --variable=libdir halcyon-logfs)"
        ;;
    other_mpi)
        said=$(cmake -S "$here/cmake" -B . -DCMAKE_PREFIX_PATH="$prefix" -DOUTSIDE=C -DMPI_C_COMPILER="$1" 2>&1) && {
            echo "an MPI that Halcyon was not built with was accepted:"
            echo "$said"
            exit 1
        }
        grep -F "Halcyon was built with" <<<"$said"
        exit
        ;;
esac

# Neither the build tree nor the environment may help it: what it needs comes from the prefix.
unset LD_LIBRARY_PATH HALCYON_MODULE_PATH
ldd outside | grep -F "$prefix"
if [[ $way == turns_* || $way == logs_* ]]; then
    ldd outside | grep libmpi && exit 1
fi
if [[ $way == logs_* ]]; then
    ./outside file flat
    test -f file/halcyon-container
    printf 'hello, world' | cmp - flat
    exit
fi
if [[ $way == turns_* ]]; then
    # A coordinator that is not there: the agent of the prefix is found, and nothing waits for long.
    HALCYON_COORDINATORS="/=unix:$work/nobody" HALCYON_COORDINATE_PATIENCE_MS=200 ./outside |
        grep -F "nothing is heard of the coordinator"
    exit
fi
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
