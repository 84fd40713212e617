!> The two usual ways to write: each rank its own HDF5 file, or all of them one file by collective writes.
module files
    use grid
    use dynamics, only: model
    use fields
    use system
    use hdf5
    implicit none
    private
    public :: write_files

    !> One output phase being written.
    type :: target_file
        integer(hid_t) :: id
        character(:), allocatable :: path
        logical :: shared
        integer :: gzip
    end type

contains

    !> Writes the fields as the output phase `phase` (from 0) below `directory`; `sync`: returns when it is on the device.
    !> Returns the bytes of this rank's data.
    function write_files(m, shown, directory, phase, shared, gzip, sync) result(bytes)
        type(model), intent(in) :: m
        real(real32), intent(in) :: shown(:, :, :, :)         !< of derive_fields
        character(*), intent(in) :: directory
        integer, intent(in) :: phase, gzip
        logical, intent(in) :: shared, sync
        integer(int64) :: bytes
        type(target_file) :: file
        integer(hid_t) :: access
        character(40) :: name
        character(1), parameter :: axes(3) = ["x", "y", "z"]
        integer :: error, f

        write (name, '(a,i5.5,a,i8.8,a)') "cloud.r", m%d%rank, ".i", phase, ".h5"
        if (shared) write (name, '(a,i8.8,a)') "cloud.i", phase, ".h5"
        file%path = trim(directory) // "/" // trim(name)
        file%shared = shared
        file%gzip = gzip
        call h5open_f(error)
        call h5pcreate_f(H5P_FILE_ACCESS_F, access, error)
        if (shared) call h5pset_fapl_mpio_f(access, m%d%comm%MPI_VAL, MPI_INFO_NULL%MPI_VAL, error)
        call h5fcreate_f(file%path, H5F_ACC_TRUNC_F, file%id, error, access_prp=access)
        if (error /= 0) call fail("cannot create '" // file%path // "'")
        call h5pclose_f(access, error)
        bytes = 0
        do f = 1, n_fields
            call write_array(file, trim(names(f)), shown(:, :, :, f), [m%d%nx, m%d%ny, m%d%nz], [m%d%i0, m%d%j0, 0], &
                             [m%d%nxl, m%d%nyl, m%d%nz], .true., trim(units(f)), trim(descriptions(f)))
        end do
        bytes = bytes + size(shown, kind=int64) * 4
        do f = 1, 3                       ! in the shared file the first rank along the axis writes a piece of it
            call write_axis(axes(f), coordinate(m%d, f), f)
        end do
        call h5fclose_f(file%id, error)
        if (error /= 0) call fail("cannot write '" // file%path // "'")
        if (sync) call sync_file(file%path)
    contains
        subroutine write_axis(name, c, axis)
            character(*), intent(in) :: name
            real(real32), intent(in) :: c(:)
            integer, intent(in) :: axis
            integer :: whole(3), first(3)

            whole = [m%d%nx, m%d%ny, m%d%nz]; first = [m%d%i0, m%d%j0, 0]
            call write_array(file, name, c, whole(axis:axis), first(axis:axis), [size(c)], &
                             all(pack(first, [1, 2, 3] /= axis) == 0), "m", "cell centres")
            bytes = bytes + size(c) * 4
        end subroutine
    end function

    !> One dataset: of the whole array in a shared file, of this rank's block otherwise.
    subroutine write_array(file, name, a, whole, first, mine, writes, unit, description)
        type(target_file), intent(in) :: file
        character(*), intent(in) :: name, unit, description
        integer, intent(in) :: whole(:), first(:), mine(:)
        real(real32), intent(in), target :: a(product(mine))
        logical, intent(in) :: writes
        integer(hid_t) :: space, memory, set, creation, transfer
        integer(hsize_t) :: local(size(mine)), start(size(mine)), extent(size(mine))
        integer :: error

        local = mine; start = 0; extent = mine
        if (file%shared) then
            start = first; extent = whole
        end if
        call h5screate_simple_f(size(mine), extent, space, error)
        call h5screate_simple_f(size(mine), local, memory, error)
        call h5pcreate_f(H5P_DATASET_CREATE_F, creation, error)
        if (file%gzip > 0 .and. .not. file%shared) then
            call h5pset_chunk_f(creation, size(mine), local, error)
            call h5pset_shuffle_f(creation, error)
            call h5pset_deflate_f(creation, file%gzip, error)
        end if
        call h5dcreate_f(file%id, name, H5T_IEEE_F32LE, space, set, error, dcpl_id=creation)
        if (error /= 0) call fail("cannot create dataset '" // name // "' in '" // file%path // "'")
        call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, start, local, error)
        if (file%shared .and. .not. writes) then
            call h5sselect_none_f(space, error)
            call h5sselect_none_f(memory, error)
        end if
        call h5pcreate_f(H5P_DATASET_XFER_F, transfer, error)
        if (file%shared) call h5pset_dxpl_mpio_f(transfer, H5FD_MPIO_COLLECTIVE_F, error)
        call h5dwrite_f(set, H5T_NATIVE_REAL, a, local, error, mem_space_id=memory, file_space_id=space, xfer_prp=transfer)
        if (error /= 0) call fail("cannot write dataset '" // name // "' of '" // file%path // "'")
        call write_text(set, "units", unit)
        call write_text(set, "long_name", description)
        call h5pclose_f(transfer, error)
        call h5pclose_f(creation, error)
        call h5dclose_f(set, error)
        call h5sclose_f(memory, error)
        call h5sclose_f(space, error)
    end subroutine

    subroutine write_text(set, name, text)
        integer(hid_t), intent(in) :: set
        character(*), intent(in) :: name, text
        integer(hid_t) :: space, kind, attribute
        integer :: error

        call h5screate_f(H5S_SCALAR_F, space, error)
        call h5tcopy_f(H5T_FORTRAN_S1, kind, error)
        call h5tset_size_f(kind, len(text, size_t), error)
        call h5acreate_f(set, name, kind, space, attribute, error)
        call h5awrite_f(attribute, kind, text, [1_hsize_t], error)
        call h5aclose_f(attribute, error)
        call h5tclose_f(kind, error)
        call h5sclose_f(space, error)
    end subroutine
end module
