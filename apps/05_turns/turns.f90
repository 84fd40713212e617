program turns
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use halcyon_turns
    implicit none
    integer, parameter :: cells = 2**17, phases = 4
    character(13), parameter :: names(0:2) = [character(13) :: "coordinated", "silent", "uncoordinated"]
    real(real64) :: field(cells)
    type(halcyon_io_turns) :: h
    type(halcyon_io_status_t) :: status
    type(MPI_File) :: file
    character(1024) :: path = "field", config, number
    integer, allocatable :: targets(:) ! storage targets of the file
    character(12) :: waited
    integer(MPI_OFFSET_KIND) :: place
    integer :: rank, ranks, i, phase, ierr

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    if (command_argument_count() > 0) call get_command_argument(1, path)
    if (command_argument_count() > 1) then
        call get_command_argument(2, config)
        call halcyon_io_init(path, h, config)
    else
        call halcyon_io_init(path, h)
    end if
    allocate (targets(max(command_argument_count() - 2, 0)))
    do i = 1, size(targets)
        call get_command_argument(i + 2, number)
        read (number, *) targets(i)
    end do
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, ierr)
    if (ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1)

    do phase = 0, phases - 1
        field = [(100*phase + 10*rank + 1e-6_real64*(i - 1), i=1, cells)] ! the simulation computes

        ! Every rank says what it is about to write. The first one waits for the job's turn, the others join it.
        call halcyon_io_prepare(h, halcyon_io_info(bytes=8_int64*cells, targets=targets))
        call halcyon_io_inform(h)
        if (rank == 0) call halcyon_io_wait(h)
        call MPI_Barrier(MPI_COMM_WORLD)
        if (rank /= 0) call halcyon_io_join(h)

        place = 8_MPI_OFFSET_KIND*cells*(phase*ranks + rank)
        call MPI_File_write_at_all(file, place, field, cells, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)

        if (rank /= 0) call halcyon_io_release(h)
        call MPI_Barrier(MPI_COMM_WORLD) ! the one that waited gives the turn back last
        if (rank == 0) call halcyon_io_release(h)
        call halcyon_io_complete(h)
    end do
    call MPI_File_close(file)

    call halcyon_io_status(h, status)
    write (waited, '(f12.3)') status%waited_s
    print '(a, i0, 5a, i0, a)', "rank ", rank, ": ", trim(names(status%coordination)), ", waited ", &
        trim(adjustl(waited)), " s, ", status%steps_unasked + status%steps_starving, " phases out of turn"
    call halcyon_io_finalize(h)
    call MPI_Finalize()
end program
