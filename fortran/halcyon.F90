!> Halcyon for Fortran: a simulation hands its output over in shared memory and goes on computing.
!>
!> Arrays of integer(int8 … int64), real(real32) and real(real64), of ranks 0 to 7, contiguous or not. Dimensions are
!> the configuration's, reversed: `dimensions: [nz, ny, nx]` is array(nx, ny, nz).
!>
!> `ierr` comes last and is optional, as in mpi_f08: HALCYON_OK or one of the HALCYON_ERROR_*, explained by
!> halcyon_error_message(). Without it a failure is printed on the error unit and ends the program by MPI_Abort.
!> Pass it by name (ierr=ierr) where another optional argument stands before it.
module halcyon
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
#ifdef HALCYON_MPI_F08
    use mpi_f08, only: MPI_Comm
#endif
    implicit none
    private

    public :: halcyon_session, halcyon_stats_t
    public :: halcyon_open, halcyon_close, halcyon_set_parameter, halcyon_write, halcyon_alloc, halcyon_commit, &
              halcyon_clear, halcyon_signal, halcyon_end_iteration, halcyon_wait, halcyon_stats, &
              halcyon_error_message, halcyon_version

    integer, parameter, public :: HALCYON_OK = 0, HALCYON_ERROR_CONFIG = 1, HALCYON_ERROR_USAGE = 2, &
                                  HALCYON_ERROR_SYSTEM = 3, HALCYON_ERROR_UNAVAILABLE = 4, HALCYON_ERROR_INTERNAL = 5
    integer, parameter, public :: HALCYON_ACCEPTED = 0, HALCYON_STORED = 1, HALCYON_DURABLE = 2

    !> One process's connection to the server of its node.
    type :: halcyon_session
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> Counts of this client since halcyon_open; halcyon.h describes each.
    type, bind(c) :: halcyon_stats_t
        integer(c_int64_t) :: iteration, blocks, bytes, signals, visible_ns, blocked_ns, skipped_blocks, skipped_bytes, &
                              spilled_blocks, spilled_bytes, inlined_blocks, inlined_bytes, server_restarts, &
                              arena_bytes, arena_free_bytes
    end type

    !> halcyon_open(config, comm, h [, ierr]): comm is an integer handle or a type(MPI_Comm). Collective.
    interface halcyon_open
        module procedure open_integer
#ifdef HALCYON_MPI_F08
        module procedure open_f08
#endif
    end interface

    !> halcyon_set_parameter(h, name, value [, ierr]): for the next halcyon_open while h is not open.
    interface halcyon_set_parameter
        module procedure set_parameter_real32, set_parameter_real64, set_parameter_int32, set_parameter_int64
    end interface

    !> halcyon_alloc(h, variable, pointer [, shape] [, block] [, ierr]): associates the pointer with the block.
    interface halcyon_alloc
        module procedure alloc_int8, alloc_int16, alloc_int32, alloc_int64, alloc_real32, alloc_real64
    end interface

    !> halcyon_wait(h, iteration, stage [, ierr]): until the iteration is HALCYON_ACCEPTED, _STORED or _DURABLE.
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
            type(halcyon_stats_t), intent(out) :: stats
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

    !> Copies this client's block of `variable` into shared memory; `array` may be reused on return.
    subroutine halcyon_write(h, variable, array, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        type(*), intent(in) :: array(..)
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_write(h%handle, c_string(variable), block_number(block), array), ierr)
    end subroutine

    !> The block may be read but no longer changed.
    subroutine halcyon_commit(h, variable, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_commit(h%handle, c_string(variable), block_number(block)), ierr)
    end subroutine

    !> The block is the server's: pointers to it must not be used any more.
    subroutine halcyon_clear(h, variable, block, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: variable
        integer, intent(in), optional :: block
        integer, intent(out), optional :: ierr

        call conclude(c_clear(h%handle, c_string(variable), block_number(block)), ierr)
    end subroutine

    !> Raises an event of the configuration; its actions run on the server.
    subroutine halcyon_signal(h, event, ierr)
        type(halcyon_session), intent(in) :: h
        character(*), intent(in) :: event
        integer, intent(out), optional :: ierr

        call conclude(c_signal(h%handle, c_string(event)), ierr)
    end subroutine

    !> Nothing more comes for this iteration. Returns at once; with `inline: true` when it is stored.
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
    subroutine halcyon_stats(h, stats, ierr)
        type(halcyon_session), intent(in) :: h
        type(halcyon_stats_t), intent(out) :: stats
        integer, intent(out), optional :: ierr

        call conclude(c_stats(h%handle, stats), ierr)
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
