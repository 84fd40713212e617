!> Halcyon for Fortran: a simulation hands its output over in shared memory and goes on computing.
!>
!> Arrays of integer(int8 … int64), real(real32) and real(real64), of ranks 0 to 7, contiguous or not. Dimensions are
!> the configuration's, reversed: `dimensions: [nz, ny, nx]` is array(nx, ny, nz).
!>
!> `ierr` comes last and is optional, as in mpi_f08: HALCYON_OK or one of the HALCYON_ERROR_*, explained by
!> halcyon_error_message(). Without it a failure is printed on the error unit and ends the program by MPI_Abort.
!> Each procedure lists its errors; halcyon.h says of the C function when each of them comes, and how long the call blocks.
!> Pass it by name (ierr=ierr) where another optional argument stands before it.
module halcyon
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
#ifdef HALCYON_MPI_F08
    use mpi_f08, only: MPI_Comm
#endif
    implicit none
    private

    public :: halcyon_session, halcyon_stats_t, halcyon_forecast_t, halcyon_expected_access
    public :: halcyon_open, halcyon_close, halcyon_set_parameter, halcyon_get_parameter, halcyon_write, halcyon_alloc, &
              halcyon_commit, halcyon_clear, halcyon_signal, halcyon_end_iteration, halcyon_wait, halcyon_stats, &
              halcyon_forecast, halcyon_forecast_window, halcyon_error_message, halcyon_version

    integer, parameter, public :: HALCYON_OK = 0, HALCYON_ERROR_CONFIG = 1, HALCYON_ERROR_USAGE = 2, &
                                  HALCYON_ERROR_SYSTEM = 3, HALCYON_ERROR_UNAVAILABLE = 4, HALCYON_ERROR_INTERNAL = 5
    integer, parameter, public :: HALCYON_ACCEPTED = 0, HALCYON_STORED = 1, HALCYON_DURABLE = 2
    integer, parameter, public :: HALCYON_ACCESS_OPEN = 0, HALCYON_ACCESS_CLOSE = 1, HALCYON_ACCESS_READ = 2, &
                                  HALCYON_ACCESS_WRITE = 3, HALCYON_ACCESS_COPY = 4, HALCYON_ACCESS_SYNC = 5
    integer, parameter, public :: HALCYON_MAX_FORECAST_PATH = 512

    !> One process's connection to the server of its node.
    type :: halcyon_session
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> Counts of this client since halcyon_open; halcyon.h describes each.
    type, bind(c) :: halcyon_stats_t
        integer(c_int64_t), private :: size_bytes
        integer(c_int64_t) :: iteration, blocks, bytes, signals, visible_ns, blocked_ns, skipped_blocks, skipped_bytes, &
                              spilled_blocks, spilled_bytes, inlined_blocks, inlined_bytes, server_restarts, &
                              arena_bytes, arena_free_bytes
    end type

    !> An access to a file that this process is expected to make; halcyon.h describes each member. A path that is not
    !> known is blank.
    type :: halcyon_expected_access
        integer :: operation = HALCYON_ACCESS_OPEN
        logical :: new_file = .false.
        integer(int64) :: offset = -1, bytes = -1
        real(real64) :: begins_s = 0, deviation_s = 0, duration_s = 0, probability = 0
        integer :: thread = 0
        character(HALCYON_MAX_FORECAST_PATH) :: path = ""
    end type

    !> What this process is about to do, but for the accesses; halcyon.h describes each member.
    type :: halcyon_forecast_t
        integer(int64) :: count = 0
        logical :: complete = .false.
        integer :: threads = 0, threads_left_out = 0
        integer(int64) :: phase_calls_done = 0, phase_calls_left = 0, phase_bytes_left = 0
        real(real64) :: phase_time_left_s = 0, phase_confidence = 0
        real(real64) :: next_phase_s = -1, next_phase_deviation_s = 0, next_phase_confidence = 0
        real(real64) :: next_phase_earliest_s = -1, next_phase_latest_s = -1
        integer(int64) :: rest_buffer_bytes = 0, phase_buffer_bytes = 0
        real(real64) :: flush_in_s = -1, flush_for_s = -1
    end type

    type, bind(c) :: c_access
        integer(c_int) :: operation, new_file
        integer(c_int64_t) :: offset, bytes
        real(c_double) :: begins_s, deviation_s, duration_s, probability
        integer(c_int) :: thread
        character(kind=c_char) :: path(HALCYON_MAX_FORECAST_PATH)
    end type

    type, bind(c) :: c_forecast
        integer(c_int64_t) :: size_bytes
        type(c_ptr) :: accesses
        integer(c_int64_t) :: capacity, count
        integer(c_int) :: complete, threads, threads_left_out
        integer(c_int64_t) :: phase_calls_done, phase_calls_left, phase_bytes_left
        real(c_double) :: phase_time_left_s, phase_confidence, next_phase_s, next_phase_deviation_s, next_phase_confidence
        real(c_double) :: next_phase_earliest_s, next_phase_latest_s
        integer(c_int64_t) :: rest_buffer_bytes, phase_buffer_bytes
        real(c_double) :: flush_in_s, flush_for_s
    end type

    !> halcyon_open(config, comm, h [, ierr]): comm is an integer handle or a type(MPI_Comm). Collective.
    !> Errors: config, usage, system, unavailable (halcyon_open).
    interface halcyon_open
        module procedure open_integer
#ifdef HALCYON_MPI_F08
        module procedure open_f08
#endif
    end interface

    !> halcyon_set_parameter(h, name, value [, ierr]): for the next halcyon_open while h is not open.
    !> Errors: usage (halcyon_set_parameter).
    interface halcyon_set_parameter
        module procedure set_parameter_real32, set_parameter_real64, set_parameter_int32, set_parameter_int64
    end interface

    !> halcyon_get_parameter(h, name, value [, ierr]): the value that a parameter of the configuration has now.
    !> Errors: usage (halcyon_get_parameter).
    interface halcyon_get_parameter
        module procedure get_parameter_real32, get_parameter_real64
    end interface

    !> halcyon_alloc(h, variable, pointer [, shape] [, block] [, ierr]): associates the pointer with the block.
    !> Errors: config, usage, system, unavailable (halcyon_alloc).
    interface halcyon_alloc
        module procedure alloc_int8, alloc_int16, alloc_int32, alloc_int64, alloc_real32, alloc_real64
    end interface

    !> halcyon_wait(h, iteration, stage [, ierr]): until the iteration is HALCYON_ACCEPTED, _STORED or _DURABLE.
    !> Errors: usage, system, unavailable (halcyon_wait).
    interface halcyon_wait
        module procedure wait_int32, wait_int64
    end interface

    interface
        integer(c_int) function c_open(config, comm, h) bind(c, name="halcyon_open_f")
            import
            character(kind=c_char), intent(in) :: config(*)
            integer(c_int), value :: comm
            type(c_ptr), intent(out) :: h
        end function
        integer(c_int) function c_close(h) bind(c, name="halcyon_close")
            import
            type(c_ptr), intent(inout) :: h
        end function
        integer(c_int) function c_set_parameter(h, name, val) bind(c, name="halcyon_set_parameter")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), value :: val
        end function
        integer(c_int) function c_get_parameter(h, name, val) bind(c, name="halcyon_get_parameter")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(inout) :: val
        end function
        integer(c_int) function c_write(h, variable, block, array) bind(c, name="halcyon_fortran_write")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: variable(*)
            integer(c_int), value :: block
            type(*), intent(in) :: array(..)
        end function
        integer(c_int) function c_commit(h, variable, block) bind(c, name="halcyon_commit")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: variable(*)
            integer(c_int), value :: block
        end function
        integer(c_int) function c_clear(h, variable, block) bind(c, name="halcyon_clear")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: variable(*)
            integer(c_int), value :: block
        end function
        integer(c_int) function c_signal(h, event) bind(c, name="halcyon_signal")
            import
            type(c_ptr), value :: h
            character(kind=c_char), intent(in) :: event(*)
        end function
        integer(c_int) function c_end_iteration(h) bind(c, name="halcyon_end_iteration")
            import
            type(c_ptr), value :: h
        end function
        integer(c_int) function c_wait(h, iteration, stage) bind(c, name="halcyon_wait")
            import
            type(c_ptr), value :: h
            integer(c_int64_t), value :: iteration
            integer(c_int), value :: stage
        end function
        integer(c_int) function c_stats(h, stats) bind(c, name="halcyon_stats")
            import
            type(c_ptr), value :: h
            type(halcyon_stats_t), intent(inout) :: stats
        end function
        integer(c_int) function c_forecast_next(h, n, forecast) bind(c, name="halcyon_forecast")
            import
            type(c_ptr), value :: h
            integer(c_int64_t), value :: n
            type(c_forecast), intent(inout) :: forecast
        end function
        integer(c_int) function c_forecast_window(h, seconds, forecast) bind(c, name="halcyon_forecast_window")
            import
            type(c_ptr), value :: h
            real(c_double), value :: seconds
            type(c_forecast), intent(inout) :: forecast
        end function
        integer(c_int) function c_conclude(code) bind(c, name="halcyon_fortran_conclude")
            import
            integer(c_int), value :: code
        end function
        function c_message() bind(c, name="halcyon_fortran_message")
            import
            type(c_ptr) :: c_message
        end function
        function c_version() bind(c, name="halcyon_version")
            import
            type(c_ptr) :: c_version
        end function
        subroutine c_abort(code) bind(c, name="halcyon_fortran_abort")
            import
            integer(c_int), value :: code
        end subroutine
    end interface

contains

    subroutine open_integer(config, comm, h, ierr)
        character(*), intent(in) :: config
        integer, intent(in) :: comm
        type(halcyon_session), intent(out) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_open(c_string(config), int(comm, c_int), h%handle), ierr)
    end subroutine

#ifdef HALCYON_MPI_F08
    subroutine open_f08(config, comm, h, ierr)
        character(*), intent(in) :: config
        type(MPI_Comm), intent(in) :: comm
        type(halcyon_session), intent(out) :: h
        integer, intent(out), optional :: ierr

        call open_integer(config, comm%MPI_VAL, h, ierr)
    end subroutine
#endif

    !> Collective; returns when all is stored.
    !> Errors: usage, system, unavailable (halcyon_close).
    subroutine halcyon_close(h, ierr)
        type(halcyon_session), intent(inout) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_close(h%handle), ierr)
    end subroutine

    subroutine set_parameter_real64(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        real(real64), intent(in) :: value
        integer, intent(out), optional :: ierr

        call conclude(c_set_parameter(h%handle, c_string(name), value), ierr)
    end subroutine

    subroutine set_parameter_real32(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        real(real32), intent(in) :: value
        integer, intent(out), optional :: ierr

        call set_parameter_real64(h, name, real(value, real64), ierr)
    end subroutine

    subroutine set_parameter_int32(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        integer(int32), intent(in) :: value
        integer, intent(out), optional :: ierr

        call set_parameter_real64(h, name, real(value, real64), ierr)
    end subroutine

    subroutine set_parameter_int64(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        integer(int64), intent(in) :: value
        integer, intent(out), optional :: ierr

        call set_parameter_real64(h, name, real(value, real64), ierr)
    end subroutine

    subroutine get_parameter_real64(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        real(real64), intent(inout) :: value
        integer, intent(out), optional :: ierr

        call conclude(c_get_parameter(h%handle, c_string(name), value), ierr)
    end subroutine

    subroutine get_parameter_real32(h, name, value, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: name
        real(real32), intent(inout) :: value
        integer, intent(out), optional :: ierr
        real(real64) :: found

        found = value
        call get_parameter_real64(h, name, found, ierr)
        value = real(found, real32)
    end subroutine

    !> Copies this client's block of `variable` into shared memory; `array` may be reused on return.
    !> Errors: config, usage, system, unavailable (halcyon_write_bytes).
    subroutine halcyon_write(h, variable, array, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        type(*), intent(in) :: array(..)
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_write(h%handle, c_string(variable), block_number(block), array), ierr)
    end subroutine

    !> The block may be read but no longer changed.
    !> Errors: usage, system, unavailable (halcyon_commit).
    subroutine halcyon_commit(h, variable, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_commit(h%handle, c_string(variable), block_number(block)), ierr)
    end subroutine

    !> The block is the server's: pointers to it must not be used any more.
    !> Errors: usage, unavailable (halcyon_clear).
    subroutine halcyon_clear(h, variable, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_clear(h%handle, c_string(variable), block_number(block)), ierr)
    end subroutine

    !> Raises an event of the configuration; its actions run on the server.
    !> Errors: usage, system, unavailable (halcyon_signal).
    subroutine halcyon_signal(h, event, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: event
        integer, intent(out), optional :: ierr

        call conclude(c_signal(h%handle, c_string(event)), ierr)
    end subroutine

    !> Nothing more comes for this iteration. Returns at once; with `inline: true` when it is stored.
    !> Errors: system, unavailable (halcyon_end_iteration).
    subroutine halcyon_end_iteration(h, ierr)
        type(halcyon_session), intent(in) :: h
        integer, intent(out), optional :: ierr

        call conclude(c_end_iteration(h%handle), ierr)
    end subroutine

    subroutine wait_int64(h, iteration, stage, ierr)
        type(halcyon_session), intent(in) :: h
        integer(int64), intent(in) :: iteration
        integer, intent(in) :: stage
        integer, intent(out), optional :: ierr

        call conclude(c_wait(h%handle, iteration, int(stage, c_int)), ierr)
    end subroutine

    subroutine wait_int32(h, iteration, stage, ierr)
        type(halcyon_session), intent(in) :: h
        integer(int32), intent(in) :: iteration
        integer, intent(in) :: stage
        integer, intent(out), optional :: ierr

        call wait_int64(h, int(iteration, int64), stage, ierr)
    end subroutine

    !> What this client has handed over, and what was not the normal path.
    !> Errors: usage (halcyon_stats).
    subroutine halcyon_stats(h, stats, ierr)
        type(halcyon_session), intent(in) :: h
        type(halcyon_stats_t), intent(out) :: stats
        integer, intent(out), optional :: ierr

        stats%size_bytes = c_sizeof(stats)
        call conclude(c_stats(h%handle, stats), ierr)
    end subroutine

    !> The next accesses of this process to files, as many as `accesses` has room for: the first forecast%count are set.
    !> Of the process, not of a session.
    !> Errors: usage, system, unavailable (halcyon_forecast).
    subroutine halcyon_forecast(accesses, forecast, ierr)
        type(halcyon_expected_access), intent(inout) :: accesses(:)
        type(halcyon_forecast_t), intent(out) :: forecast
        integer, intent(out), optional :: ierr
        type(c_access), allocatable, target :: found(:)
        type(c_forecast) :: whole
        integer(c_int) :: code

        allocate (found(size(accesses)))
        whole = with_room(found)
        code = c_forecast_next(c_null_ptr, size(accesses, kind=c_int64_t), whole)
        if (code == HALCYON_OK) call take_forecast(found, whole, accesses, forecast)
        call conclude(code, ierr)
    end subroutine

    !> Those that begin within the next `seconds`, as many as `accesses` has room for.
    !> Errors: usage, system, unavailable (halcyon_forecast_window).
    subroutine halcyon_forecast_window(seconds, accesses, forecast, ierr)
        real(real64), intent(in) :: seconds
        type(halcyon_expected_access), intent(inout) :: accesses(:)
        type(halcyon_forecast_t), intent(out) :: forecast
        integer, intent(out), optional :: ierr
        type(c_access), allocatable, target :: found(:)
        type(c_forecast) :: whole
        integer(c_int) :: code

        allocate (found(size(accesses)))
        whole = with_room(found)
        code = c_forecast_window(c_null_ptr, seconds, whole)
        if (code == HALCYON_OK) call take_forecast(found, whole, accesses, forecast)
        call conclude(code, ierr)
    end subroutine

    !> The message of the last failed call of this thread; empty when none failed.
    function halcyon_error_message() result(message)
        character(:), allocatable :: message

        message = fortran_string(c_message())
    end function

    !> "0.1.0 (Open MPI)"
    function halcyon_version() result(version)
        character(:), allocatable :: version

        version = fortran_string(c_version())
    end function

! One specific procedure of halcyon_alloc per element type; the pointer's rank is any.
#define ALLOC alloc_int8
#define ELEMENT integer(c_int8_t)
#include "alloc.inc"
#define ALLOC alloc_int16
#define ELEMENT integer(c_int16_t)
#include "alloc.inc"
#define ALLOC alloc_int32
#define ELEMENT integer(c_int32_t)
#include "alloc.inc"
#define ALLOC alloc_int64
#define ELEMENT integer(c_int64_t)
#include "alloc.inc"
#define ALLOC alloc_real32
#define ELEMENT real(c_float)
#include "alloc.inc"
#define ALLOC alloc_real64
#define ELEMENT real(c_double)
#include "alloc.inc"

    type(c_forecast) function with_room(found) result(whole)
        type(c_access), intent(in), target :: found(:)

        whole%size_bytes = c_sizeof(whole)
        whole%accesses = c_null_ptr
        if (size(found) > 0) whole%accesses = c_loc(found)
        whole%capacity = size(found, kind=c_int64_t)
        whole%count = 0
    end function

    subroutine take_forecast(found, whole, accesses, forecast)
        type(c_access), intent(in) :: found(:)
        type(c_forecast), intent(in) :: whole
        type(halcyon_expected_access), intent(inout) :: accesses(:)
        type(halcyon_forecast_t), intent(out) :: forecast
        integer(int64) :: i
        integer :: k

        forecast = halcyon_forecast_t(whole%count, whole%complete /= 0, int(whole%threads), int(whole%threads_left_out), &
                                      whole%phase_calls_done, whole%phase_calls_left, whole%phase_bytes_left, &
                                      whole%phase_time_left_s, whole%phase_confidence, whole%next_phase_s, &
                                      whole%next_phase_deviation_s, whole%next_phase_confidence, &
                                      whole%next_phase_earliest_s, whole%next_phase_latest_s, &
                                      whole%rest_buffer_bytes, whole%phase_buffer_bytes, whole%flush_in_s, &
                                      whole%flush_for_s)
        do i = 1, whole%count
            accesses(i) = halcyon_expected_access(int(found(i)%operation), found(i)%new_file /= 0, found(i)%offset, &
                                                  found(i)%bytes, found(i)%begins_s, found(i)%deviation_s, &
                                                  found(i)%duration_s, found(i)%probability, int(found(i)%thread), "")
            do k = 1, HALCYON_MAX_FORECAST_PATH
                if (found(i)%path(k) == c_null_char) exit
                accesses(i)%path(k:k) = found(i)%path(k)
            end do
        end do
    end subroutine

    subroutine conclude(code, ierr)
        integer(c_int), intent(in) :: code
        integer, intent(out), optional :: ierr
        integer(c_int) :: kind

        kind = c_conclude(code)
        if (present(ierr)) then
            ierr = int(kind)
        else if (kind /= HALCYON_OK) then
            write (error_unit, '(2a)') "halcyon: ", halcyon_error_message()
            flush (error_unit)
            call c_abort(kind)
        end if
    end subroutine

    pure integer(c_int) function block_number(block)
        integer, intent(in), optional :: block

        block_number = 0
        if (present(block)) block_number = int(block, c_int)
    end function

    pure function c_string(text)
        character(*), intent(in) :: text
        character(kind=c_char, len=:), allocatable :: c_string

        c_string = trim(text)//c_null_char
    end function

    function fortran_string(text) result(string)
        type(c_ptr), intent(in) :: text
        character(:), allocatable :: string
        character(kind=c_char), pointer :: bytes(:)
        integer :: i
        interface
            integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
                import
                type(c_ptr), value :: text
            end function
        end interface

        allocate (character(len=c_strlen(text)) :: string)
        call c_f_pointer(text, bytes, [len(string)])
        do i = 1, len(string)
            string(i:i) = bytes(i)
        end do
    end function
end module
