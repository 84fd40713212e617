"""Spack recipe: see the README two folders up."""

from pathlib import Path

from spack.package import *


class Halcyon(CMakePackage):
    """Hands a simulation's output to a server on a core of its own node, over shared memory; the server compresses,
    stores, and shows the whole run as one file."""

    # The clone that this recipe lies in.
    git = f"file://{Path(__file__).resolve().parents[4]}"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Fortran module")
    variant("python", default=False, description="Python package: the halcyon command and the client for mpi4py")
    variant("apps", default=False, description="Example simulations")

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
    depends_on("nlohmann-json@3.11:")
    depends_on("zstd")
    # Serial: the store module is loaded apart from the HDF5 that a simulation may use.
    depends_on("hdf5@1.10.3:+hl~mpi")

    extends("python@3.11:", when="+python")
    with when("+python"), default_args(type="build"):
        depends_on("py-nanobind@2.4:")
        depends_on("py-pip")
        depends_on("py-scikit-build-core@0.10:")
    with when("+python"), default_args(type="run"):
        depends_on("py-mpi4py@4:")
        depends_on("py-ibis-framework")
        depends_on("py-h5netcdf")
        depends_on("py-h5py")
        depends_on("py-jinja2")
        depends_on("py-jsonschema")
        depends_on("py-matplotlib")
        depends_on("py-numpy")
        depends_on("py-pyarrow")
        depends_on("py-pydantic@2:")
        depends_on("py-pyyaml")
        depends_on("py-rich")
        depends_on("py-rich-argparse")
        depends_on("py-xarray")

    conflicts("%gcc@:11", msg="Halcyon is C++20: gcc 12 or newer")
    conflicts("platform=darwin", msg="Halcyon needs Linux: sealed memory files, futexes, process descriptors")

    generator("ninja")

    def cmake_args(self):
        # The Spack provider's own wrappers; HALCYON_MPI only names the kind.
        kind = "mpich" if self.spec["mpi"].satisfies("mpich") else "openmpi"
        return [
            self.define("HALCYON_MPI", kind),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("HALCYON_FORTRAN", "fortran"),
            self.define_from_variant("HALCYON_APPS", "apps"),
            self.define("HALCYON_TESTS", self.run_tests),
            self.define("HALCYON_BENCH", False),
        ]

    @run_after("install")
    def install_python_package(self):
        if self.spec.satisfies("+python"):
            # The package carries a library of its own, built for the same MPI.
            mpi = self.spec["mpi"]
            options = ["--no-deps", "--no-build-isolation", "--no-index", f"--prefix={self.prefix}"]
            kind = "mpich" if mpi.satisfies("mpich") else "openmpi"
            for name, value in (("HALCYON_MPI", kind), ("MPI_C_COMPILER", mpi.mpicc)):
                options.append(f"--config-settings=cmake.define.{name}={value}")
            with working_dir(self.stage.source_path):
                which("python3")("-m", "pip", "install", *options, ".")
