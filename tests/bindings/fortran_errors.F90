!> A failed call sets ierr and says why; nothing reaches the client.
program fortran_errors
    use, intrinsic :: iso_fortran_env
    use mpi
    use halcyon
    use recording
    implicit none
    type(halcyon_session) :: h
    real(real32) :: values(4, 3)
    real(real32), pointer :: plane(:, :), line(:)
    integer(int32) :: counts(4, 3)
    integer :: ierr

    values = 1
    counts = 1
    call MPI_Init(ierr)

    call halcyon_write(h, "v", values, ierr=ierr)
    call refused("not open", "a write before open")
    call recording_fail_next(HALCYON_ERROR_CONFIG, "recorded.yaml:3: no such layout"//c_null_char)
    call halcyon_open("recorded.yaml", MPI_COMM_WORLD, h, ierr)
    call check(ierr == HALCYON_ERROR_CONFIG, "open returns the kind of the failure")
    call check(halcyon_error_message() == "recorded.yaml:3: no such layout", "open explains itself")

    call halcyon_open("recorded.yaml", MPI_COMM_WORLD, h, ierr)
    call check(ierr == HALCYON_OK, "the second open succeeds")
    call recording_reset()
    call declare(element_real32, [4, 3])

    call halcyon_write(h, "w", values, ierr=ierr)
    call refused("no variable 'w'", "an unknown variable")
    call halcyon_write(h, "v", values, 7, ierr)
    call refused("no block 7", "an unknown block")
    call halcyon_write(h, "v", values(:, 1:2), ierr=ierr)
    call refused("32 bytes given, a block has 48", "an array too small")
    call halcyon_write(h, "v", values(1:3, :), ierr=ierr)
    call refused("36 bytes given, a block has 48", "a section too small")
    call halcyon_write(h, "v", values(1:0, :), ierr=ierr)
    call refused("0 bytes given, a block has 48", "an empty array for a block that is not")
    call halcyon_write(h, "v", counts, ierr=ierr)
    call refused("real(real32)", "integers for reals of the same size")
    call halcyon_write(h, "v", real(values, real64), ierr=ierr)
    call refused("8 bytes", "reals of another kind")
    call halcyon_write(h, "v", values == 1, ierr=ierr)
    call refused("other elements", "logicals")
    call assumed_size(values)

    call halcyon_alloc(h, "v", line, ierr=ierr)
    call refused("2 dimensions, the pointer 1", "a pointer of another rank")
    call halcyon_alloc(h, "v", line, [11], ierr=ierr)
    call refused("44 bytes", "a shape too small")
    call halcyon_alloc(h, "v", plane, [12], ierr=ierr)
    call refused("shape has 1", "a shape of another rank than the pointer")
    call halcyon_commit(h, "v", ierr=ierr)
    call refused("not allocated", "a commit without alloc")

    call halcyon_alloc(h, "v", line, [12], 2, ierr)
    call check(ierr == HALCYON_OK .and. size(line) == 12, "a shape of as many elements is accepted")
    call declare(element_uint32, [4, 3])
    call halcyon_write(h, "v", counts, ierr=ierr)
    call check(ierr == HALCYON_OK, "unsigned integers travel in signed ones")

    call recording_fail_next(HALCYON_ERROR_UNAVAILABLE, "the server is gone"//c_null_char)
    call halcyon_end_iteration(h, ierr)
    call check(ierr == HALCYON_ERROR_UNAVAILABLE, "end_iteration returns the kind of the failure")
    call check(halcyon_error_message() == "the server is gone", "the client's message replaces the module's own")
    call halcyon_close(h, ierr)
    call check(ierr == HALCYON_OK, "close")
    call MPI_Finalize(ierr)
    call finish()

contains

    subroutine refused(why, what)
        character(*), intent(in) :: why, what

        call check(ierr == HALCYON_ERROR_USAGE, what//" is refused")
        call check(index(halcyon_error_message(), why) > 0, what//" is explained, not: "//halcyon_error_message())
        call check(calls() == "", what//" reaches nobody")
    end subroutine

    subroutine assumed_size(array)
        real(real32), intent(in) :: array(4, *)

        call halcyon_write(h, "v", array(:, 1:3), ierr=ierr)
        call check(ierr == HALCYON_OK, "an assumed-size array with an upper bound is accepted")
        call recording_reset()
        call declare(element_real32, [4, 3])
    end subroutine
end program
