program place
    use, intrinsic :: iso_fortran_env, only: real32
    use mpi_f08
    use halcyon
    implicit none
    integer, parameter :: nx = 64, ny = 32, iterations = 8
    real(real32), allocatable :: temperature(:, :)
    type(halcyon_session) :: h
    character(256) :: config = "halcyon.yaml"
    integer :: rank, ranks, cut(2), px, py, columns, rows, first_column, first_row, i, j, t

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    if (command_argument_count() > 0) call get_command_argument(1, config)
    cut = 0
    call MPI_Dims_create(ranks, 2, cut)
    py = cut(1)
    px = cut(2)
    columns = nx/px
    rows = ny/py
    first_column = mod(rank, px)*columns
    first_row = rank/px*rows

    call halcyon_set_parameter(h, "px", px)
    call halcyon_set_parameter(h, "py", py)
    call halcyon_open(config, MPI_COMM_WORLD, h)

    allocate (temperature(-1:columns, -1:rows))
    do t = 0, iterations - 1
        do j = -1, rows
            do i = -1, columns
                temperature(i, j) = 280 + 0.25*(first_column + i) + 0.5*(first_row + j) + t
            end do
        end do

        call halcyon_write(h, "temperature", temperature)
        call halcyon_end_iteration(h)
    end do
    call halcyon_close(h)
    call MPI_Finalize()
end program
