!> Every kind and every rank reaches the client, from where it lies, and can be allocated.
module one_kind_each
    use, intrinsic :: iso_fortran_env
    use halcyon
    use recording
    implicit none

contains

#define KIND_NAME check_int8
#define ELEMENT integer(int8)
#define ELEMENT_CODE element_int8
#include "one_kind.inc"
#define KIND_NAME check_int16
#define ELEMENT integer(int16)
#define ELEMENT_CODE element_int16
#include "one_kind.inc"
#define KIND_NAME check_int32
#define ELEMENT integer(int32)
#define ELEMENT_CODE element_int32
#include "one_kind.inc"
#define KIND_NAME check_int64
#define ELEMENT integer(int64)
#define ELEMENT_CODE element_int64
#include "one_kind.inc"
#define KIND_NAME check_real32
#define ELEMENT real(real32)
#define ELEMENT_CODE element_real32
#include "one_kind.inc"
#define KIND_NAME check_real64
#define ELEMENT real(real64)
#define ELEMENT_CODE element_real64
#include "one_kind.inc"
end module

program fortran_kinds_and_ranks
    use, intrinsic :: iso_fortran_env
    use mpi
    use halcyon
    use recording
    use one_kind_each
    implicit none
    type(halcyon_session) :: h
    integer :: ierr

    call MPI_Init(ierr)
    call halcyon_open("recorded.yaml", MPI_COMM_WORLD, h)
    call check_int8(h)
    call check_int16(h)
    call check_int32(h)
    call check_int64(h)
    call check_real32(h)
    call check_real64(h)
    call halcyon_close(h)
    call MPI_Finalize(ierr)
    call finish()
end program
