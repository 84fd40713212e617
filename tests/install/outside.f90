! outside.c in Fortran. Failures end the program: no call has an ierr.
program outside
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    use halcyon
    implicit none
    real(real64) :: temperature(8, 4)
    type(halcyon_session) :: h
    character(256) :: config
    integer :: rank, i

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call get_command_argument(1, config)
    temperature = reshape([(100.0_real64*rank + i, i=0, 31)], shape(temperature))

    call halcyon_open(config, MPI_COMM_WORLD, h)
    call halcyon_write(h, "temperature", temperature)
    call halcyon_end_iteration(h)
    call halcyon_close(h)
    call MPI_Finalize()
end program
