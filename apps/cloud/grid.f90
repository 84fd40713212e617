!> The grid, its decomposition over ranks, and the halo exchange.
!>
!> Arakawa C grid: scalars at cell centres; u at the east, v at the north, w at the upper face of the cell of the same
!> index. Every 3-D array is (1-halo:nxl+halo, 0:nz, 1-halo:nyl+halo); level 0 is used by w alone (the ground).
!> Rank r owns column mod(r, px) and row r / px of px × py equal blocks; the lateral boundaries are periodic.
module grid
    use, intrinsic :: iso_fortran_env, only: real32, real64, int64, error_unit
    use mpi_f08
    implicit none
    public

    integer, parameter :: wp = real64      !< the kind the model computes in; output is real32
    integer, parameter :: halo = 4         !< fifth-order fluxes need 3 cells, their use on the block's first face 1 more

    real(wp), parameter :: gravity = 9.80665_wp, r_dry = 287.04_wp, r_vapour = 461.5_wp, cp = 1004.5_wp, &
                           p0 = 1.0e5_wp, latent_heat = 2.5e6_wp, pi = acos(-1.0_wp)
    real(wp), parameter :: cv = cp - r_dry, kappa = r_dry / cp, gas_ratio = r_vapour / r_dry

    !> Prognostic variables, as indices of the last dimension of the state: momentum, ρ θm, dry density, ρ q.
    integer, parameter :: i_u = 1, i_v = 2, i_w = 3, i_th = 4, i_rho = 5, i_qv = 6, i_qc = 7, i_qr = 8, n_state = 8

    type :: domain
        type(MPI_Comm) :: comm
        type(MPI_Datatype) :: real_type
        integer :: rank, ranks, px, py, nx, ny, nz   !< nx, ny, nz: cells of the whole domain
        integer :: nxl, nyl, i0, j0                  !< cells of this rank and where they begin in the whole
        integer :: west, east, south, north          !< neighbouring ranks
        real(wp) :: dx, dy, dz
    end type

contains

    subroutine decompose(d, comm, px, py, nx, ny, nz, dx, dy, dz)
        type(domain), intent(out) :: d
        type(MPI_Comm), intent(in) :: comm
        integer, intent(in) :: px, py, nx, ny, nz
        real(wp), intent(in) :: dx, dy, dz
        integer :: col, row, dims(2)
        character(200) :: text

        d%comm = comm
        call MPI_Comm_rank(comm, d%rank)
        call MPI_Comm_size(comm, d%ranks)
        dims = [py, px]                     ! a zero is filled in; px gets the smaller factor
        if (mod(d%ranks, max(px, 1) * max(py, 1)) == 0) call MPI_Dims_create(d%ranks, 2, dims)
        d%py = dims(1); d%px = dims(2)
        if (d%px * d%py /= d%ranks) then
            write (text, '(4(a,i0))') "px=", px, " py=", py, " do not multiply to the number of ranks, ", d%ranks
            call fail(text)
        else if (mod(nx, d%px) /= 0 .or. mod(ny, d%py) /= 0) then
            write (text, '(4(a,i0))') "nx=", nx, " ny=", ny, " do not divide into px=", d%px, " py=", d%py
            call fail(text)
        else if (nx / d%px < halo .or. ny / d%py < halo .or. nz < 4) then
            write (text, '(3(a,i0))') "a block of ", nx / d%px, " x ", ny / d%py, " cells is too small: at least ", halo
            call fail(trim(text) // " each way, and nz at least 4")
        end if
        d%nx = nx; d%ny = ny; d%nz = nz; d%dx = dx; d%dy = dy; d%dz = dz
        d%nxl = nx / d%px; d%nyl = ny / d%py
        col = mod(d%rank, d%px); row = d%rank / d%px
        d%i0 = col * d%nxl; d%j0 = row * d%nyl
        d%west = row * d%px + mod(col + d%px - 1, d%px); d%east = row * d%px + mod(col + 1, d%px)
        d%south = mod(row + d%py - 1, d%py) * d%px + col; d%north = mod(row + 1, d%py) * d%px + col
        if (wp == real64) then
            d%real_type = MPI_DOUBLE_PRECISION
        else
            d%real_type = MPI_REAL
        end if
    end subroutine

    !> Fills `width` halo cells of `fields` arrays, corners included (x first, then y with the x halos).
    subroutine exchange(d, a, fields, width)
        type(domain), intent(in) :: d
        integer, intent(in) :: fields, width
        real(wp), intent(inout) :: a(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo, fields)
        real(wp) :: xs(width, 0:d%nz, d%nyl, fields), xr(width, 0:d%nz, d%nyl, fields)
        real(wp) :: ys(1-width:d%nxl+width, 0:d%nz, width, fields), yr(1-width:d%nxl+width, 0:d%nz, width, fields)
        integer :: w, n, m

        w = width; n = d%nxl; m = d%nyl
        xs = a(1:w, :, 1:m, :)
        call shift(xs, xr, size(xs), d%west, d%east)
        a(n+1:n+w, :, 1:m, :) = xr
        xs = a(n-w+1:n, :, 1:m, :)
        call shift(xs, xr, size(xs), d%east, d%west)
        a(1-w:0, :, 1:m, :) = xr
        ys = a(1-w:n+w, :, 1:w, :)
        call shift(ys, yr, size(ys), d%south, d%north)
        a(1-w:n+w, :, m+1:m+w, :) = yr
        ys = a(1-w:n+w, :, m-w+1:m, :)
        call shift(ys, yr, size(ys), d%north, d%south)
        a(1-w:n+w, :, 1-w:0, :) = yr
    contains
        subroutine shift(send, receive, count, to, from)
            integer, intent(in) :: count, to, from
            real(wp), intent(in) :: send(count)
            real(wp), intent(out) :: receive(count)

            if (to == d%rank) then
                receive = send
            else
                call MPI_Sendrecv(send, count, d%real_type, to, 0, receive, count, d%real_type, from, 0, d%comm, &
                                  MPI_STATUS_IGNORE)
            end if
        end subroutine
    end subroutine

    !> Sum over all ranks. For reports only: its last digits depend on the number of ranks, so no physics may use it.
    function global_sum(d, x) result(total)
        type(domain), intent(in) :: d
        real(wp), intent(in) :: x
        real(wp) :: total

        call MPI_Allreduce(x, total, 1, d%real_type, MPI_SUM, d%comm)
    end function

    function global_max(d, x) result(total)
        type(domain), intent(in) :: d
        real(wp), intent(in) :: x
        real(wp) :: total

        call MPI_Allreduce(x, total, 1, d%real_type, MPI_MAX, d%comm)
    end function

    !> Ends the program on all ranks with a message on the error unit of the calling one.
    subroutine fail(message)
        character(*), intent(in) :: message

        write (error_unit, '(2a)') "cloud: ", trim(message)
        flush (error_unit)
        call MPI_Abort(MPI_COMM_WORLD, 1)
        stop 1
    end subroutine
end module
