!> Output through Halcyon: each field is copied into shared memory, and the simulation goes on.
module output_halcyon
    use grid
#ifdef CLOUD_HALCYON
    use fields
    use halcyon
#endif
    implicit none
    private
    public :: open_halcyon, write_halcyon, close_halcyon

#ifdef CLOUD_HALCYON
    type(halcyon_session) :: h

contains

    !> Collective. The configuration's parameters are those of this run.
    subroutine open_halcyon(d, config)
        type(domain), intent(in) :: d
        character(*), intent(in) :: config

        call halcyon_set_parameter(h, "nx", d%nx)
        call halcyon_set_parameter(h, "ny", d%ny)
        call halcyon_set_parameter(h, "nz", d%nz)
        call halcyon_set_parameter(h, "px", d%px)
        call halcyon_set_parameter(h, "py", d%py)
        call halcyon_open(config, d%comm, h)
        call halcyon_write(h, "x", coordinate(d, 1))
        call halcyon_write(h, "y", coordinate(d, 2))
        call halcyon_write(h, "z", coordinate(d, 3))
    end subroutine

    !> One output phase; returns the bytes handed over.
    function write_halcyon(shown) result(bytes)
        real(real32), intent(in) :: shown(:, :, :, :)         !< of derive_fields
        integer(int64) :: bytes
        integer :: f

        do f = 1, n_fields
            call halcyon_write(h, trim(names(f)), shown(:, :, :, f))
        end do
        call halcyon_end_iteration(h)
        bytes = size(shown, kind=int64) * 4
    end function

    subroutine close_halcyon()
        call halcyon_close(h)
    end subroutine
#else

contains

    subroutine open_halcyon(d, config)
        type(domain), intent(in) :: d
        character(*), intent(in) :: config

        if (d%rank == 0) call fail("output=halcyon ('" // trim(config) // "'): this cloud was built without Halcyon's " // &
                                   "Fortran module; build with HALCYON_FORTRAN=ON, or use output=file-per-process")
        call MPI_Barrier(d%comm)
    end subroutine

    function write_halcyon(shown) result(bytes)
        real(real32), intent(in) :: shown(:, :, :, :)
        integer(int64) :: bytes

        bytes = 0 * size(shown)
    end function

    subroutine close_halcyon()
    end subroutine
#endif
end module
