! turns.c in Fortran. Failures end the program: no call has an ierr.
program turns
    use halcyon_turns
    implicit none
    type(halcyon_io_turns) :: h
    type(halcyon_io_status_t) :: status
    logical :: authorized

    call halcyon_io_init(".", h)
    call halcyon_io_prepare(h, halcyon_io_info(bytes=1_8))
    call halcyon_io_inform(h)
    call halcyon_io_wait(h)
    call halcyon_io_check(h, authorized)
    call halcyon_io_status(h, status)
    call halcyon_io_release(h)
    call halcyon_io_complete(h)
    call halcyon_io_finalize(h)
    print '(a)', trim(status%reason)
    if (.not. authorized) error stop
end program
