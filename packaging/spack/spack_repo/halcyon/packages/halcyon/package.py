"""Spack recipe: see the README of packaging/spack."""

from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator


class Halcyon(CMakePackage):
    """Hands a simulation's output to a server on a core of its own node, over shared memory; the server compresses,
    stores, and shows the whole run as one file."""

    # The clone that this recipe lies in.
    git = f"file://{Path(__file__).resolve().parents[6]}"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Fortran module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("yaml-cpp@0.7:")
    depends_on("rapidjson")
    depends_on("zlib-api")
    depends_on("zstd")
    # Serial: the store module is loaded apart from the HDF5 that a simulation may use.
    depends_on("hdf5@1.10.3:+hl~mpi")

    conflicts("%gcc@:11", msg="Halcyon is C++20: gcc 12 or newer")
    conflicts("platform=darwin", msg="Halcyon needs Linux: sealed memory files, futexes, process descriptors")

    generator("ninja")

    def cmake_args(self):
        # The Spack provider's own wrappers; HALCYON_MPI only names the kind.
        mpi = self.spec["mpi"]
        # Apps and tests need a parallel HDF5 beside the serial one, and a Spack environment has one HDF5.
        arguments = [
            self.define("HALCYON_MPI", "mpich" if mpi.satisfies("mpich") else "openmpi"),
            self.define("MPI_C_COMPILER", mpi.mpicc),
            self.define_from_variant("HALCYON_FORTRAN", "fortran"),
            self.define("HALCYON_APPS", False),
            self.define("HALCYON_TESTS", False),
            self.define("HALCYON_BENCH", False),
        ]
        if self.spec.satisfies("+fortran"):
            arguments.append(self.define("MPI_Fortran_COMPILER", mpi.mpifc))
        return arguments
