program write
    use, intrinsic :: iso_fortran_env, only: real32
    use mpi_f08
    use halcyon
    implicit none
    integer, parameter :: nx = 64, ny = 32, iterations = 8
    real(real32) :: temperature(nx, ny)
    type(halcyon_session) :: h
    character(256) :: config = "halcyon.yaml"
    integer :: rank, i, j, t

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (command_argument_count() > 0) call get_command_argument(1, config)

    call halcyon_open(config, MPI_COMM_WORLD, h)
    do t = 0, iterations - 1
        do j = 1, ny
            do i = 1, nx
                temperature(i, j) = 280 + rank + 0.25*(i - 1) + 0.5*(j - 1) + t
            end do
        end do

        call halcyon_write(h, "temperature", temperature)
        call halcyon_end_iteration(h)
    end do
    call halcyon_close(h)
    call MPI_Finalize()
end program
