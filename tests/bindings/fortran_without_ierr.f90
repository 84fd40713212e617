!> Without ierr a failure is printed and ends the program. This program must fail; its message is checked by ctest.
program fortran_without_ierr
    use mpi
    use halcyon
    implicit none
    type(halcyon_session) :: h
    integer :: ierr

    call MPI_Init(ierr)
    call halcyon_write(h, "v", 1.0)
    print '(a)', "still running"
    call MPI_Finalize(ierr)
end program
