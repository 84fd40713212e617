!> Without ierr a failure is printed and ends the program. This program must fail; its message is checked by ctest.
program fortran_turns_without_ierr
    use halcyon_turns
    implicit none
    type(halcyon_io_turns) :: h

    call halcyon_io_wait(h)
    print '(a)', "still running"
end program
