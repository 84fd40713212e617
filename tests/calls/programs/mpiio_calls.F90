! What mpiio_calls.c does, in Fortran: with mpif.h (USE_MPIF_H), the module mpi (USE_MPI) or mpi_f08 (USE_MPI_F08).
#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#define ONE
#define EACH (3)
#else
#define HANDLE(kind) integer
#define STATUS integer
#define ONE (MPI_STATUS_SIZE)
#define EACH (MPI_STATUS_SIZE, 3)
#endif
#define BYTES(n) int(n, MPI_OFFSET_KIND)

module calls
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  integer :: data(300)
contains

  subroutine control(file)
    HANDLE(MPI_File), intent(in) :: file
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Datatype) :: elementary, filetype
    integer(MPI_OFFSET_KIND) :: bytes
    integer(MPI_ADDRESS_KIND) :: extent
    integer :: access, error
    logical :: flag
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    call MPI_File_set_size(file, BYTES(65536), error)
    call MPI_File_preallocate(file, BYTES(131072), error)
    call MPI_File_get_size(file, bytes, error)
    call MPI_File_get_amode(file, access, error)
    call MPI_File_get_group(file, group, error)
    call MPI_Group_free(group, error)
    call MPI_File_get_info(file, info, error)
    call MPI_File_set_info(file, info, error)
    call MPI_Info_free(info, error)
    call MPI_File_set_atomicity(file, .false., error)
    call MPI_File_get_atomicity(file, flag, error)
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent, error)
    call MPI_File_get_byte_offset(file, BYTES(5), bytes, error)
    call MPI_File_get_view(file, bytes, elementary, filetype, representation, error)
  end subroutine

  subroutine blocking(file, rank)
    HANDLE(MPI_File), intent(in) :: file
    integer, intent(in) :: rank
    STATUS :: moved ONE
    integer(MPI_OFFSET_KIND) :: bytes
    integer :: error
    call MPI_File_write_at(file, BYTES(rank*4096), data, 100, MPI_INTEGER, moved, error)
    call MPI_File_write_at_all(file, BYTES(rank*4096 + 1000), data, 10, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_seek(file, BYTES(rank*8192), MPI_SEEK_SET, error)
    call MPI_File_write(file, data, 25, MPI_INTEGER, moved, error)
    call MPI_File_write_all(file, data, 25, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_get_position(file, bytes, error)
    call MPI_File_seek_shared(file, BYTES(0), MPI_SEEK_SET, error)
    call MPI_File_write_shared(file, data, 5, MPI_INTEGER, moved, error)
    call MPI_File_write_ordered(file, data, 5, MPI_INTEGER, moved, error)
    call MPI_File_get_position_shared(file, bytes, error)
    call MPI_File_read_at(file, BYTES(rank*4096), data, 100, MPI_INTEGER, moved, error)
    call MPI_File_read_at_all(file, BYTES(rank*4096 + 1000), data, 10, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_seek(file, BYTES(16), MPI_SEEK_SET, error)
    call MPI_File_read(file, data, 25, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_read_all(file, data, 25, MPI_INTEGER, moved, error)
    call MPI_File_seek_shared(file, BYTES(0), MPI_SEEK_SET, error)
    call MPI_File_read_shared(file, data, 5, MPI_INTEGER, moved, error)
    call MPI_File_read_ordered(file, data, 5, MPI_INTEGER, moved, error)
  end subroutine

  subroutine started(file, rank)
    HANDLE(MPI_File), intent(in) :: file
    integer, intent(in) :: rank
    HANDLE(MPI_Request) :: requests(3)
    STATUS :: moved ONE, each EACH
    integer :: error, index, completed, indices(2)
    logical :: flag
    call MPI_File_iwrite_at(file, BYTES(rank*4096), data, 10, MPI_INTEGER, requests(1), error)
    call MPI_Wait(requests(1), moved, error)
    call MPI_File_seek(file, BYTES(0), MPI_SEEK_SET, error)
    call MPI_File_iread(file, data, 11, MPI_INTEGER, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_File_iwrite(file, data, 12, MPI_INTEGER, requests(1), error)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, error)
    end do
    call MPI_File_iread_at(file, BYTES(40), data(1:), 1, MPI_INTEGER, requests(1), error)
    call MPI_File_iread_at(file, BYTES(80), data(101:), 2, MPI_INTEGER, requests(2), error)
    call MPI_File_iread_at(file, BYTES(120), data(201:), 3, MPI_INTEGER, requests(3), error)
    call MPI_Waitall(3, requests, each, error)
    call MPI_File_iread_at(file, BYTES(160), data, 4, MPI_INTEGER, requests(1), error)
    requests(2) = MPI_REQUEST_NULL
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
    call MPI_File_iwrite_shared(file, data, 5, MPI_INTEGER, requests(2), error)
    call MPI_Waitsome(2, requests, completed, indices, each, error)
    call MPI_File_iread_shared(file, data, 6, MPI_INTEGER, requests(1), error)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
    end do
  end subroutine

  subroutine started_together(file, rank)
    HANDLE(MPI_File), intent(in) :: file
    integer, intent(in) :: rank
    HANDLE(MPI_Request) :: requests(2)
    STATUS :: moved ONE, each EACH
    integer :: error, index, completed, indices(2)
    logical :: flag
    requests = MPI_REQUEST_NULL
    call MPI_File_iwrite_at_all(file, BYTES(rank*4096), data, 7, MPI_INTEGER, requests(1), error)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(2, requests, index, flag, moved, error)
    end do
    call MPI_File_iread_at_all(file, BYTES(rank*4096), data, 8, MPI_INTEGER, requests(2), error)
    completed = 0
    do while (completed < 1)
      call MPI_Testsome(2, requests, completed, indices, each, error)
    end do
    call MPI_File_iwrite_all(file, data, 9, MPI_INTEGER, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_File_iread_all(file, data, 10, MPI_INTEGER, requests(1), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine split(file, rank)
    HANDLE(MPI_File), intent(in) :: file
    integer, intent(in) :: rank
    STATUS :: moved ONE
    integer :: error
    call MPI_File_seek(file, BYTES(rank*4096), MPI_SEEK_SET, error)
    call MPI_File_write_all_begin(file, data, 11, MPI_INTEGER, error)
    call MPI_File_write_all_end(file, data, moved, error)
    call MPI_File_read_all_begin(file, data, 12, MPI_INTEGER, error)
    call MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE, error)
    call MPI_File_write_at_all_begin(file, BYTES(rank*4096), data, 13, MPI_INTEGER, error)
    call MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE, error)
    call MPI_File_read_at_all_begin(file, BYTES(rank*4096), data, 14, MPI_INTEGER, error)
    call MPI_File_read_at_all_end(file, data, moved, error)
    call MPI_File_write_ordered_begin(file, data, 15, MPI_INTEGER, error)
    call MPI_File_write_ordered_end(file, data, moved, error)
    call MPI_File_read_ordered_begin(file, data, 16, MPI_INTEGER, error)
    call MPI_File_read_ordered_end(file, data, moved, error)
  end subroutine

  ! Every second integer from byte 1024 on.
  subroutine through_a_view(file)
    HANDLE(MPI_File), intent(in) :: file
    HANDLE(MPI_Datatype) :: single, strided
    integer :: error
    call MPI_Type_contiguous(1, MPI_INTEGER, single, error)
    call MPI_Type_create_resized(single, 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND, strided, error)
    call MPI_Type_commit(strided, error)
    call MPI_File_set_view(file, BYTES(1024), MPI_INTEGER, strided, 'native', MPI_INFO_NULL, error)
    call MPI_File_write_at(file, BYTES(3), data, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_seek(file, BYTES(5), MPI_SEEK_SET, error)
    call MPI_File_read(file, data, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_set_view(file, BYTES(0), MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, error)
    call MPI_File_read_at(file, BYTES(3), data, 2, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_Type_free(single, error)
    call MPI_Type_free(strided, error)
  end subroutine

end module

program mpiio_calls
  use calls
  implicit none
  HANDLE(MPI_File) :: file
  integer :: rank, error
  character(len=1000) :: path  ! padded with blanks
  call get_command_argument(1, path)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  if (error /= MPI_SUCCESS) stop 1
  call control(file)
  call blocking(file, rank)
  call started(file, rank)
  if (command_argument_count() == 1) call started_together(file, rank)
  call split(file, rank)
  call through_a_view(file)
  call MPI_File_sync(file, error)
#ifdef USE_MPI_F08
  call MPI_File_close(file)  ! without the error, which mpi_f08 allows
#else
  call MPI_File_close(file, error)
#endif
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, error)
  call MPI_File_open(MPI_COMM_SELF, '/nowhere/at/all', MPI_MODE_RDONLY, MPI_INFO_NULL, file, error)
  if (error == MPI_SUCCESS) stop 3
  call MPI_Finalize(error)
end program
