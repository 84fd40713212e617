! As strided.c, in Fortran.
program strided
    implicit none
    include 'mpif.h'
    integer, parameter :: piece = 47, pieces = 200
    character(len=1024) :: path
    character(len=MPI_MAX_INFO_VAL) :: hint, value
    integer :: rank, ranks, info, used, file, view, error, status(MPI_STATUS_SIZE)
    integer(kind=MPI_OFFSET_KIND) :: start
    logical :: there
    character :: data(pieces*piece)

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call get_command_argument(1, path)
    call get_command_argument(2, hint)
    info = MPI_INFO_NULL
    if (hint /= 'null') then
        call MPI_Info_create(info, error)
        call MPI_Info_set(info, 'ind_wr_buffer_size', '4096', error)
        if (hint /= 'other') call MPI_Info_set(info, 'romio_ds_write', trim(hint), error)
    end if
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, info, file, error)
    call check(error)
    value = 'none'
    call MPI_File_get_info(file, used, error)
    call MPI_Info_get(used, 'romio_ds_write', MPI_MAX_INFO_VAL, value, there, error)
    if (rank == 0) print '(2a)', 'romio_ds_write ', trim(value)
    call MPI_Info_free(used, error)

    call MPI_Type_vector(pieces, piece, piece*ranks, MPI_BYTE, view, error)
    call MPI_Type_commit(view, error)
    start = rank*piece
    call MPI_File_set_view(file, start, MPI_BYTE, view, 'native', MPI_INFO_NULL, error)
    call check(error)
    data = char(ichar('a') + rank)
    call MPI_File_write(file, data, pieces*piece, MPI_BYTE, status, error)
    call check(error)
    call MPI_File_sync(file, error)
    call check(error)
    call MPI_File_close(file, error)
    call check(error)
    call MPI_Type_free(view, error)
    if (info /= MPI_INFO_NULL) call MPI_Info_free(info, error)
    call MPI_Finalize(error)

contains

    subroutine check(result)
        integer, intent(in) :: result
        character(len=MPI_MAX_ERROR_STRING) :: text
        integer :: length, ignored
        if (result == MPI_SUCCESS) return
        call MPI_Error_string(result, text, length, ignored)
        write (0, '(a)') text(1:length)
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine check
end program strided
