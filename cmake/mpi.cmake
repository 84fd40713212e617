# Finds the MPI that HALCYON_MPI names, through the compiler wrappers that Debian keeps side by side.
# MPI_HOME or MPI_C_COMPILER set by the user wins.
if(NOT DEFINED MPI_C_COMPILER AND NOT DEFINED MPI_HOME)
  find_program(MPI_C_COMPILER NAMES mpicc.${HALCYON_MPI} mpicc REQUIRED)
  find_program(MPI_CXX_COMPILER NAMES mpicxx.${HALCYON_MPI} mpicxx REQUIRED)
  find_program(MPI_Fortran_COMPILER NAMES mpifort.${HALCYON_MPI} mpifort)
  find_program(MPIEXEC_EXECUTABLE NAMES mpirun.${HALCYON_MPI} mpirun)
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C)
# C++ sources use the C interface; mpi.h would otherwise drag in the C++ one, which MPI::MPI_C does not link.
set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
             $<$<COMPILE_LANGUAGE:CXX>:OMPI_SKIP_MPICXX> $<$<COMPILE_LANGUAGE:CXX>:MPICH_SKIP_MPICXX>)

# How tests start N ranks. Open MPI refuses root and more ranks than cores unless told.
set(HALCYON_MPIRUN ${MPIEXEC_EXECUTABLE})
if(HALCYON_MPI STREQUAL "openmpi")
  list(APPEND HALCYON_MPIRUN --allow-run-as-root --oversubscribe)
endif()

set(HALCYON_MPI_NAME "Open MPI")
if(HALCYON_MPI STREQUAL "mpich")
  set(HALCYON_MPI_NAME "MPICH")
endif()
