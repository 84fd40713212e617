!> What the model shows of itself: eight 3-D fields at cell centres and the three coordinates, as real32.
module fields
    use grid
    use atmosphere, only: exner_function
    use dynamics, only: model
    implicit none
    public

    integer, parameter :: n_fields = 8
    character(5), parameter :: names(n_fields) = ["theta", "pi   ", "u    ", "v    ", "w    ", "qv   ", "qc   ", "qr   "]
    character(7), parameter :: units(n_fields) = ["K      ", "1      ", "m s-1  ", "m s-1  ", "m s-1  ", "kg kg-1", &
                                                  "kg kg-1", "kg kg-1"]
    character(38), parameter :: descriptions(n_fields) = [character(38) :: "potential temperature", &
        "Exner function minus its base state", "eastward wind", "northward wind", "upward wind", &
        "water vapour mixing ratio", "cloud water mixing ratio", "rain water mixing ratio"]

contains

    !> All fields of this rank's cells, the last index telling which.
    subroutine derive_fields(m, shown)
        type(model), intent(in) :: m
        real(real32), allocatable, intent(inout) :: shown(:, :, :, :)
        integer :: f

        if (.not. allocated(shown)) allocate (shown(m%d%nxl, m%d%nyl, m%d%nz, n_fields))
        do f = 1, n_fields
            call derive_field(m, f, shown(:, :, :, f))
        end do
    end subroutine

    !> Field number f of this rank's cells. Winds are averaged to cell centres; those on the west and south faces of the
    !> block's first cells come from the halo, so it must be fresh (fill_halo).
    pure subroutine derive_field(m, f, a)
        type(model), intent(in) :: m
        integer, intent(in) :: f
        real(real32), intent(out) :: a(m%d%nxl, m%d%nyl, m%d%nz)
        integer :: j, k, n

        n = m%d%nxl
        associate (s => m%s)
            do k = 1, m%d%nz
                do j = 1, m%d%nyl
                    select case (names(f))
                    case ("theta")
                        a(:, j, k) = real(s(1:n, k, j, i_th) / (s(1:n, k, j, i_rho) + gas_ratio * s(1:n, k, j, i_qv)), real32)
                    case ("pi")
                        a(:, j, k) = real(exner_function(s(1:n, k, j, i_th)) - m%base%exner(k), real32)
                    case ("u")
                        a(:, j, k) = real((s(0:n-1, k, j, i_u) + s(1:n, k, j, i_u)) / (2 * s(1:n, k, j, i_rho)), real32)
                    case ("v")
                        a(:, j, k) = real((s(1:n, k, j - 1, i_v) + s(1:n, k, j, i_v)) / (2 * s(1:n, k, j, i_rho)), real32)
                    case ("w")
                        a(:, j, k) = real((s(1:n, k - 1, j, i_w) + s(1:n, k, j, i_w)) / (2 * s(1:n, k, j, i_rho)), real32)
                    case ("qv")
                        a(:, j, k) = real(s(1:n, k, j, i_qv) / s(1:n, k, j, i_rho), real32)
                    case ("qc")
                        a(:, j, k) = real(s(1:n, k, j, i_qc) / s(1:n, k, j, i_rho), real32)
                    case ("qr")
                        a(:, j, k) = real(s(1:n, k, j, i_qr) / s(1:n, k, j, i_rho), real32)
                    end select
                end do
            end do
        end associate
    end subroutine

    subroutine fill_halo(m)
        type(model), intent(inout) :: m

        call exchange(m%d, m%s(:, :, :, i_u:i_v), 2, 1)
    end subroutine

    !> Cell centres along dimension 1, 2 or 3, those of this rank, in metres.
    function coordinate(d, dimension) result(c)
        type(domain), intent(in) :: d
        integer, intent(in) :: dimension
        real(real32), allocatable :: c(:)
        integer :: i, n(3), first(3)
        real(wp) :: width(3)

        n = [d%nxl, d%nyl, d%nz]; first = [d%i0, d%j0, 0]; width = [d%dx, d%dy, d%dz]
        c = [(real((first(dimension) + i - 0.5_wp) * width(dimension), real32), i=1, n(dimension))]
    end function
end module
