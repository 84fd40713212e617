!> Taking turns at a file system with other jobs, for Fortran: the program says when it is about to do I/O, waits for its
!> turn, and gives the turn back. halcyon/io.h says what each call does, and what happens without a coordinator. Links no
!> MPI.
!>
!> `ierr` comes last and is optional, as in mpi_f08: HALCYON_IO_OK or one of the HALCYON_IO_ERROR_*, explained by
!> halcyon_io_error_message(). Without it a failure is printed on the error unit and ends the program by error stop.
module halcyon_turns
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
    implicit none
    private

    public :: halcyon_io_turns, halcyon_io_info, halcyon_io_status_t
    public :: halcyon_io_init, halcyon_io_finalize, halcyon_io_prepare, halcyon_io_complete, halcyon_io_inform, &
              halcyon_io_check, halcyon_io_wait, halcyon_io_join, halcyon_io_release, halcyon_io_status, &
              halcyon_io_error_message

    integer, parameter, public :: HALCYON_IO_OK = 0, HALCYON_IO_ERROR_CONFIG = 1, HALCYON_IO_ERROR_USAGE = 2, &
                                  HALCYON_IO_ERROR_SYSTEM = 3, HALCYON_IO_ERROR_UNAVAILABLE = 4, &
                                  HALCYON_IO_ERROR_INTERNAL = 5
    integer, parameter, public :: HALCYON_IO_WRITE = 0, HALCYON_IO_READ = 1, HALCYON_IO_METADATA = 2
    integer, parameter, public :: HALCYON_IO_COORDINATED = 0, HALCYON_IO_SILENT = 1, HALCYON_IO_UNCOORDINATED = 2
    integer, parameter, public :: HALCYON_IO_IDLE = 0, HALCYON_IO_ASKING = 1, HALCYON_IO_HOLDING = 2
    integer, parameter, public :: HALCYON_IO_MAX_HOLDERS = 512, HALCYON_IO_MAX_REASON = 256
    integer, parameter, public :: HALCYON_IO_MAX_TARGETS = 160

    !> The turns of one process at one file system.
    type :: halcyon_io_turns
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> What is known of accesses to come, of this process; io.h describes each member. 0: not known.
    type :: halcyon_io_info
        integer(int64) :: bytes = 0, files = 0
        integer :: access = HALCYON_IO_WRITE
        real(real64) :: alone_s = 0, period_s = 0
        !> Storage targets; not allocated, or of size 0: not known. Numbers below 0 are those of C from 2**31 on.
        integer, allocatable :: targets(:)
    end type

    !> How things are at the file system; io.h describes each member.
    type :: halcyon_io_status_t
        integer :: coordination = HALCYON_IO_UNCOORDINATED, stage = HALCYON_IO_IDLE
        logical :: our_turn = .false., others_move = .false.
        real(real64) :: expected_wait_s = -1
        integer(int64) :: load = 0
        real(real64) :: waited_s = 0
        integer(int64) :: bytes = 0, bytes_unasked = 0, steps_unasked = 0, steps_starving = 0
        character(HALCYON_IO_MAX_HOLDERS) :: holders = ""
        character(HALCYON_IO_MAX_REASON) :: reason = ""
    end type

    type, bind(c) :: c_info
        integer(c_int64_t) :: size_bytes, bytes, files
        integer(c_int) :: access
        real(c_double) :: alone_s, period_s
        type(c_ptr) :: targets
        integer(c_int64_t) :: target_count
    end type

    type, bind(c) :: c_status
        integer(c_int64_t) :: size_bytes
        integer(c_int) :: coordination, stage, our_turn, others_move
        real(c_double) :: expected_wait_s, waited_s
        integer(c_int64_t) :: bytes, bytes_unasked, steps_unasked, steps_starving
        character(kind=c_char) :: holders(HALCYON_IO_MAX_HOLDERS), reason(HALCYON_IO_MAX_REASON)
        integer(c_int64_t) :: load
    end type

    interface
        integer(c_int) function c_init(config, path, h) bind(c, name="halcyon_io_init")
            import
            type(c_ptr), value :: config
            character(kind=c_char), intent(in) :: path(*)
            type(c_ptr), intent(out) :: h
        end function
        integer(c_int) function c_finalize(h) bind(c, name="halcyon_io_finalize")
            import
            type(c_ptr), intent(inout) :: h
        end function
        integer(c_int) function c_prepare(h, info) bind(c, name="halcyon_io_prepare")
            import
            type(c_ptr), value :: h
            type(c_info), intent(in) :: info
        end function
        integer(c_int) function c_complete(h) bind(c, name="halcyon_io_complete")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_inform(h) bind(c, name="halcyon_io_inform")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_check(h, authorized) bind(c, name="halcyon_io_check")
            import
            type(c_ptr), value :: h
            integer(c_int), intent(out) :: authorized
        end function
        integer(c_int) function c_wait(h) bind(c, name="halcyon_io_wait")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_join(h) bind(c, name="halcyon_io_join")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_release(h) bind(c, name="halcyon_io_release")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_status_of(h, status) bind(c, name="halcyon_io_status")
            import
            type(c_ptr), value :: h
            type(c_status), intent(inout) :: status
        end function
        function c_message() bind(c, name="halcyon_io_error_message")
            import
            type(c_ptr) :: c_message
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Prepares to take turns at the file system of `path`. `config`: a coordinators.yaml, where not all is as usual.
    !> Errors: config, usage, system (halcyon_io_init).
    subroutine halcyon_io_init(path, h, config, ierr)
        character(*), intent(in) :: path
        type(halcyon_io_turns), intent(out) :: h
        character(*), intent(in), optional :: config
        integer, intent(out), optional :: ierr
        character(kind=c_char, len=:), allocatable, target :: file
        type(c_ptr) :: named

        named = c_null_ptr
        if (present(config)) then
            file = trim(config)//c_null_char
            named = c_loc(file)
        end if
        call conclude(c_init(named, trim(path)//c_null_char, h%handle), ierr)
    end subroutine

    !> Gives back what is held.
    !> Errors: usage (halcyon_io_finalize).
    subroutine halcyon_io_finalize(h, ierr)
        type(halcyon_io_turns), intent(inout) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_finalize(h%handle), ierr)
    end subroutine

    !> Adds what is known of the accesses to come.
    !> Errors: usage (halcyon_io_prepare).
    subroutine halcyon_io_prepare(h, info, ierr)
        type(halcyon_io_turns), intent(in) :: h
        type(halcyon_io_info), intent(in) :: info
        integer, intent(out), optional :: ierr
        type(c_info) :: known
        integer(c_int32_t), allocatable, target :: targets(:)

        known%size_bytes = c_sizeof(known)
        known%bytes = info%bytes
        known%files = info%files
        known%access = int(info%access, c_int)
        known%alone_s = info%alone_s
        known%period_s = info%period_s
        known%targets = c_null_ptr
        known%target_count = 0
        if (allocated(info%targets)) then
            targets = int(info%targets, c_int32_t)
            known%target_count = size(targets, kind=c_int64_t)
            if (known%target_count > 0) known%targets = c_loc(targets)
        end if
        call conclude(c_prepare(h%handle, known), ierr)
    end subroutine

    !> Takes away what was prepared last.
    !> Errors: usage (halcyon_io_complete).
    subroutine halcyon_io_complete(h, ierr)
        type(halcyon_io_turns), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_complete(h%handle), ierr)
    end subroutine

    !> A phase begins, or what is known of it has changed: tells what is prepared.
    !> Errors: usage (halcyon_io_inform).
    subroutine halcyon_io_inform(h, ierr)
        type(halcyon_io_turns), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_inform(h%handle), ierr)
    end subroutine

    !> Whether it is our turn, which is then held; while it is held, whether it still is.
    !> Errors: usage (halcyon_io_check).
    subroutine halcyon_io_check(h, authorized, ierr)
        type(halcyon_io_turns), intent(in) :: h
        logical, intent(out) :: authorized
        integer, intent(out), optional :: ierr
        integer(c_int) :: found

        found = 0
        call conclude(c_check(h%handle, found), ierr)
        authorized = found /= 0
    end subroutine

    !> Waits for our turn; while it is held, gives way if others are to have it.
    !> Errors: usage (halcyon_io_wait).
    subroutine halcyon_io_wait(h, ierr)
        type(halcyon_io_turns), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_wait(h%handle), ierr)
    end subroutine

    !> Holds a turn that another process of this job waited for and holds.
    !> Errors: usage (halcyon_io_join).
    subroutine halcyon_io_join(h, ierr)
        type(halcyon_io_turns), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_join(h%handle), ierr)
    end subroutine

    !> The phase is over: gives the turn back, or asks for it no more.
    !> Errors: usage (halcyon_io_release).
    subroutine halcyon_io_release(h, ierr)
        type(halcyon_io_turns), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_release(h%handle), ierr)
    end subroutine

    !> Who has the turn, and how long it may take until it is ours.
    !> Errors: usage (halcyon_io_status).
    subroutine halcyon_io_status(h, status, ierr)
        type(halcyon_io_turns), intent(in) :: h
        type(halcyon_io_status_t), intent(out) :: status
        integer, intent(out), optional :: ierr
        type(c_status) :: now
        integer(c_int) :: code

        now%size_bytes = c_sizeof(now)
        code = c_status_of(h%handle, now)
        if (code == HALCYON_IO_OK) then
            status = halcyon_io_status_t(int(now%coordination), int(now%stage), now%our_turn /= 0, &
                                         now%others_move /= 0, now%expected_wait_s, now%load, now%waited_s, now%bytes, &
                                         now%bytes_unasked, now%steps_unasked, now%steps_starving, "", "")
            call put(now%holders, status%holders)
            call put(now%reason, status%reason)
        end if
        call conclude(code, ierr)
    end subroutine

    !> The message of the last failed call of this thread, or of the last that had something to say; empty when there is
    !> none.
    function halcyon_io_error_message() result(message)
        character(:), allocatable :: message
        character(kind=c_char), pointer :: bytes(:)
        type(c_ptr) :: text

        text = c_message()
        allocate (character(len=c_strlen(text)) :: message)
        call c_f_pointer(text, bytes, [len(message)])
        message = repeat(" ", len(message))
        call put(bytes, message)
    end function

    !> Up to the ending zero, if there is one.
    subroutine put(from, to)
        character(kind=c_char), intent(in) :: from(:)
        character(*), intent(inout) :: to
        integer :: i

        do i = 1, min(size(from), len(to))
            if (from(i) == c_null_char) exit
            to(i:i) = from(i)
        end do
    end subroutine

    subroutine conclude(code, ierr)
        integer(c_int), intent(in) :: code
        integer, intent(out), optional :: ierr

        if (present(ierr)) then
            ierr = int(code)
        else if (code /= HALCYON_IO_OK) then
            write (error_unit, '(2a)') "halcyon: ", halcyon_io_error_message()
            flush (error_unit)
            error stop
        end if
    end subroutine
end module
