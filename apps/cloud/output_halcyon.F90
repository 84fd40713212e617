!> Output through Halcyon: each field is computed right into shared memory, and the simulation goes on.
module output_halcyon
    use grid
    use dynamics, only: model
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
    function write_halcyon(m) result(bytes)
        type(model), intent(in) :: m
        integer(int64) :: bytes
        real(real32), pointer :: a(:, :, :)
        integer :: f

        bytes = 0
        do f = 1, n_fields
            call halcyon_alloc(h, trim(names(f)), a, [m%d%nxl, m%d%nyl, m%d%nz])
            call fill(m, f, a)
            call halcyon_commit(h, trim(names(f)))
            call halcyon_clear(h, trim(names(f)))
            bytes = bytes + size(a, kind=int64) * 4
        end do
        call halcyon_end_iteration(h)
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

    function write_halcyon(m) result(bytes)
        type(model), intent(in) :: m
        integer(int64) :: bytes

        bytes = 0 * m%d%nx
    end function

    subroutine close_halcyon()
    end subroutine
#endif
end module
