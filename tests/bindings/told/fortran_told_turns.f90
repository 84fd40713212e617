!> One of two jobs that take turns, as told_turns.c describes it.
program fortran_told_turns
    use, intrinsic :: iso_c_binding, only: c_int
    use, intrinsic :: iso_fortran_env, only: int64
    use halcyon_turns
    implicit none

    interface
        integer(c_int) function sleep_us(us) bind(c, name="usleep")
            import :: c_int
            integer(c_int), value :: us
        end function
    end interface

    integer, parameter :: most_looks = 60000
    type(halcyon_io_turns) :: h
    character(:), allocatable :: marks
    integer :: failures = 0

    call halcyon_io_init(argument(2), h, argument(1))
    marks = argument(3)
    if (argument(4) == "asks") then
        call ask(argument(5))
    else if (argument(4) == "beside") then
        call move_beside()
    else
        call hold()
    end if
    call halcyon_io_finalize(h)
    deallocate (marks)  ! a program's own variables are not freed with it
    if (failures > 0) error stop 1

contains

    function argument(which) result(text)
        integer, intent(in) :: which
        character(:), allocatable :: text
        integer :: length

        call get_command_argument(which, length=length)
        allocate (character(length) :: text)
        call get_command_argument(which, text)
    end function

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (holds) return
        failures = failures + 1
        print '(2a)', "does not hold in Fortran: ", what
    end subroutine

    subroutine make(ending)
        character(*), intent(in) :: ending
        integer :: unit

        open (newunit=unit, file=marks//"."//ending, status="replace", action="write")
        close (unit)
    end subroutine

    subroutine await(ending)
        character(*), intent(in) :: ending
        logical :: there
        integer :: looks

        do looks = 1, most_looks
            inquire (file=marks//"."//ending, exist=there)
            if (there) return
            if (sleep_us(1000_c_int) /= 0) cycle
        end do
        call check(.false., "the other job is as far in time")
    end subroutine

    subroutine check_own_turn()
        type(halcyon_io_status_t) :: now

        call halcyon_io_status(h, now)
        call check(now%stage == HALCYON_IO_HOLDING .and. now%our_turn, "it has the turn")
        call check(now%coordination == HALCYON_IO_COORDINATED, "somebody gives turns")
        call check(.not. now%expected_wait_s > 0 .and. .not. now%expected_wait_s < 0, "who has the turn waits for none")
        call check(now%holders == "" .and. now%load == 0, "of its own turn nobody else is told")
        call check(now%steps_unasked == 0 .and. now%steps_starving == 0, "it was asked for")
    end subroutine

    subroutine hold()
        call halcyon_io_prepare(h, halcyon_io_info(bytes=2_int64**30, alone_s=500, targets=[-huge(1) + 6, 3]))
        call halcyon_io_inform(h)
        call halcyon_io_wait(h)
        call check_own_turn()
        call make("held")
        call await("asked")
        call halcyon_io_release(h)
        call halcyon_io_complete(h)
    end subroutine

    subroutine move_beside()
        call await("held")
        call halcyon_io_prepare(h, halcyon_io_info(targets=[7, 4, 7]))
        call halcyon_io_inform(h)
        call halcyon_io_wait(h)
        call check_own_turn()
        call make("asked")
        call halcyon_io_release(h)
        call halcyon_io_complete(h)
    end subroutine

    subroutine ask(other)
        character(*), intent(in) :: other
        type(halcyon_io_status_t) :: now
        integer :: looks

        call await("held")
        do looks = 1, most_looks
            call halcyon_io_status(h, now)
            if (now%coordination == HALCYON_IO_COORDINATED) exit
            if (sleep_us(1000_c_int) /= 0) cycle
        end do
        call check(now%stage == HALCYON_IO_IDLE .and. .not. now%our_turn, "without a phase there is no turn")
        call check(now%expected_wait_s < 0 .and. now%load == 0 .and. now%holders == "", &
                   "nothing is known before it asks")
        call halcyon_io_inform(h)
        do looks = 1, most_looks
            call halcyon_io_status(h, now)
            if (now%holders /= "") exit
            if (sleep_us(1000_c_int) /= 0) cycle
        end do
        call check(now%holders == other, "the other job has the turn, not: "//trim(now%holders))
        call check(now%load == 2, "two jobs are in a phase")
        call check(now%expected_wait_s > 400 .and. now%expected_wait_s <= 500, &
                   "the wait is what the other one still needs")
        call check(now%stage == HALCYON_IO_ASKING .and. .not. now%our_turn .and. now%others_move, "it has to wait")
        call check(now%coordination == HALCYON_IO_COORDINATED, "somebody gives turns")
        call make("asked")
        call halcyon_io_wait(h)
        call check_own_turn()
        call halcyon_io_status(h, now)
        call check(now%waited_s > 0, "it has waited")
        call halcyon_io_release(h)
    end subroutine
end program
