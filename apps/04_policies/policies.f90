program policies
    use, intrinsic :: iso_fortran_env, only: real32
    use mpi_f08
    use halcyon
    implicit none
    integer, parameter :: nx = 256, ny = 256, iterations = 50
    real(real32) :: field(nx, ny)
    type(halcyon_session) :: h
    type(halcyon_stats_t) :: stats
    character(256) :: config = "halcyon.yaml"
    integer :: rank, i, j, t

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (command_argument_count() > 0) call get_command_argument(1, config)

    call halcyon_open(config, MPI_COMM_WORLD, h)
    do t = 0, iterations - 1
        do j = 1, ny
            do i = 1, nx
                field(i, j) = 280 + rank + 0.25*(i - 1) + 0.5*(j - 1) + t
            end do
        end do

        call halcyon_write(h, "temperature", field)
        call halcyon_write(h, "pressure", field)
        call halcyon_write(h, "picture", field)
        call halcyon_end_iteration(h)
    end do
    call halcyon_stats(h, stats)
    print '(a, i0, a, f7.3, a, i0, a, i0)', "rank ", rank, ": waited", 1e-9*real(stats%blocked_ns), " s for room, spilled ", &
        stats%spilled_blocks, " blocks, skipped ", stats%skipped_blocks
    call halcyon_close(h)
    call MPI_Finalize()
end program
