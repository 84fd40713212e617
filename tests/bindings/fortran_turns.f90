!> The module halcyon_turns, on the real library with a coordinator that is not there: each call arrives, what is told
!> comes back, and misuse is named.
program fortran_turns
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use halcyon_turns
    implicit none
    type(halcyon_io_turns) :: h, never
    type(halcyon_io_status_t) :: now
    logical :: authorized
    integer :: ierr, i, failures = 0

    call halcyon_io_init("", h, ierr=ierr)
    call refused("the path is empty", "an empty path")
    call halcyon_io_inform(never, ierr)
    call refused("call halcyon_io_init first", "a handle that was never opened")

    call halcyon_io_init("/some/where", h, ierr=ierr)
    call check(ierr == HALCYON_IO_OK, "init succeeds: "//halcyon_io_error_message())
    call halcyon_io_wait(h, ierr)
    call refused("halcyon_io_wait: no phase was announced", "a wait before inform")
    call halcyon_io_release(h, ierr)
    call refused("halcyon_io_release: no phase was announced", "a release before inform")
    call halcyon_io_complete(h, ierr)
    call refused("nothing is prepared", "a complete without prepare")

    call halcyon_io_prepare(h, halcyon_io_info(bytes=-1_int64), ierr)
    call refused("bytes is -1", "a negative number of bytes")
    call halcyon_io_prepare(h, halcyon_io_info(files=-2_int64), ierr)
    call refused("files is -2", "a negative number of files")
    call halcyon_io_prepare(h, halcyon_io_info(access=7), ierr)
    call refused("access is 7", "an unknown kind of access")
    call halcyon_io_prepare(h, halcyon_io_info(alone_s=-3), ierr)
    call refused("alone_s is -3", "a negative time")
    call halcyon_io_prepare(h, halcyon_io_info(period_s=-4), ierr)
    call refused("period_s is -4", "a negative period")

    call halcyon_io_prepare(h, halcyon_io_info(targets=[(mod(i, HALCYON_IO_MAX_TARGETS), i=1, 1000)]), ierr)
    call check(ierr == HALCYON_IO_OK, "as many targets as are told, listed more than once")
    call check(index(halcyon_io_error_message(), "more than") == 0, "nothing to be said of these")
    call halcyon_io_complete(h)
    call halcyon_io_prepare(h, halcyon_io_info(targets=[(i, i=0, HALCYON_IO_MAX_TARGETS)]), ierr)
    call check(ierr == HALCYON_IO_OK, "more targets than are told")
    call check(index(halcyon_io_error_message(), "161 storage targets are more than the 160") > 0, &
               "these are all, not: "//halcyon_io_error_message())
    call halcyon_io_complete(h)
    call halcyon_io_prepare(h, halcyon_io_info(targets=[integer ::]))
    call halcyon_io_complete(h)

    call halcyon_io_prepare(h, halcyon_io_info(bytes=1000_int64, access=HALCYON_IO_READ, period_s=60, targets=[3]))
    call halcyon_io_status(h, now)
    call check(now%stage == HALCYON_IO_IDLE, "no phase at first")
    call halcyon_io_inform(h)
    call halcyon_io_status(h, now)
    call check(now%stage == HALCYON_IO_ASKING, "a phase is announced")
    call halcyon_io_wait(h)
    call halcyon_io_check(h, authorized)
    call check(authorized, "nobody answers, so that it goes on")
    call halcyon_io_join(h, ierr)
    call refused("the turn is held already", "a join while the turn is held")
    call halcyon_io_status(h, now)
    call check(now%stage == HALCYON_IO_HOLDING, "the turn is held")
    call check(now%coordination == HALCYON_IO_SILENT, "the coordinator is silent")
    call check(now%our_turn .and. .not. now%others_move, "it may go on, and nothing is known of others")
    call check(now%steps_unasked == 1 .and. now%steps_starving == 0, "it went on unasked once")
    call check(now%waited_s > 0 .and. now%expected_wait_s >= 0, "times are told")
    call check(index(now%reason, "nothing is heard of the coordinator") == 1, "the reason is told, not: "//trim(now%reason))
    call check(now%holders == "" .and. now%load == 0, "no holders are known, and no load")
    call halcyon_io_release(h)
    call halcyon_io_inform(h)
    call halcyon_io_join(h)
    call halcyon_io_release(h)
    call halcyon_io_complete(h)
    call halcyon_io_finalize(h)
    call halcyon_io_finalize(h, ierr)
    call refused("the handle is null", "a second finalize")
    if (failures > 0) error stop 1
    print '(a)', "all holds"

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (holds) return
        failures = failures + 1
        print '(2a)', "does not hold: ", what
    end subroutine

    subroutine refused(why, what)
        character(*), intent(in) :: why, what

        call check(ierr == HALCYON_IO_ERROR_USAGE, what//" is refused")
        call check(index(halcyon_io_error_message(), why) > 0, what//" is explained, not: "//halcyon_io_error_message())
    end subroutine
end program
