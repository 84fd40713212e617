!> Writes the same section of an array of each kind; check_sections.py reads it back from the store.
program stored_sections
    use, intrinsic :: iso_fortran_env
    use mpi
    use halcyon
    implicit none
    integer, parameter :: nx = 6, ny = 9
    integer(int64) :: whole(nx, ny)
    integer(int8) :: bytes(nx, ny)
    integer(int16) :: shorts(nx, ny)
    integer(int32) :: integers(nx, ny)
    real(real32) :: singles(nx, ny)
    real(real64) :: doubles(nx, ny)
    real(real64), pointer :: block(:, :)
    type(halcyon_session) :: h
    character(1024) :: config
    integer :: i, ierr

    whole = reshape([(int(i, int64), i=1, nx*ny)], [nx, ny])
    bytes = int(whole, int8)
    shorts = int(whole, int16)
    integers = int(whole, int32)
    singles = real(whole, real32)
    doubles = real(whole, real64)
    call get_command_argument(1, config)
    call MPI_Init(ierr)
    call halcyon_open(config, MPI_COMM_WORLD, h)
    call halcyon_write(h, "int8", bytes(1:6:2, 8:2:-2))
    call halcyon_write(h, "int16", shorts(1:6:2, 8:2:-2))
    call halcyon_write(h, "int32", integers(1:6:2, 8:2:-2))
    call halcyon_write(h, "int64", whole(1:6:2, 8:2:-2))
    call halcyon_write(h, "float32", singles(1:6:2, 8:2:-2))
    call halcyon_alloc(h, "float64", block)
    block = doubles(1:6:2, 8:2:-2)
    call halcyon_commit(h, "float64")
    call halcyon_clear(h, "float64")
    call halcyon_end_iteration(h)
    call halcyon_close(h)
    call MPI_Finalize(ierr)
end program
