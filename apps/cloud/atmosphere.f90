!> From a radiosonde's text file to the model's base state: a horizontally uniform atmosphere in discrete balance.
module atmosphere
    use grid
    use microphysics, only: saturation_mixing_ratio
    implicit none
    private
    public :: base_state, read_sounding, make_base_state, exner_function

    !> The levels of a sounding, lowest first; heights above the station.
    type :: profile
        real(wp), allocatable, dimension(:) :: z, p, t, qv, u, v   !< m, Pa, K, kg/kg, m/s, m/s
    end type

    !> The base state at cell centres (1:nz); at faces (0:nz) what is left of its hydrostatic balance, round-off.
    type :: base_state
        real(wp), allocatable, dimension(:) :: z, theta, theta_m, qv, p, exner, rho, rho_moist, u, v, imbalance
    end type

contains

    !> π = (p / p0)^(Rd/cp) from ρd θm.
    elemental function exner_function(rho_theta) result(exner)
        real(wp), intent(in) :: rho_theta
        real(wp) :: exner

        exner = (r_dry / p0 * rho_theta) ** (r_dry / cv)
    end function

    !> Reads the University of Wyoming's layout: dashed line, two lines of names and units, dashed line, rows of eleven
    !> columns of seven characters. Rows with an empty column among those used are skipped. A table may be followed
    !> by the archive's text ("Station information …"), which ends it.
    function read_sounding(path) result(s)
        character(*), intent(in) :: path
        type(profile) :: s
        character(4), parameter :: names(6) = ["PRES", "HGHT", "TEMP", "MIXR", "DRCT", "SKNT"]
        integer, parameter :: columns(6) = [1, 2, 3, 6, 7, 8]
        real(wp), parameter :: knot = 1852.0_wp / 3600
        real(wp), allocatable :: rows(:, :)
        real(wp) :: row(6)
        character(256) :: line
        character(7) :: field
        integer :: unit, status, number, dashes, c

        open (newunit=unit, file=path, status="old", action="read", iostat=status)
        if (status /= 0) call fail("cannot read sounding '" // path // "'")
        allocate (rows(6, 0))
        number = 0; dashes = 0
        rows_of_file: do
            read (unit, '(a)', iostat=status) line
            if (status /= 0) exit
            number = number + 1
            if (line(1:4) == "----") dashes = dashes + 1
            if (line(1:4) == "----" .or. dashes < 2 .or. line == "") cycle
            if (index(line, "Station information") > 0 .or. line(1:1) == "<") exit
            do c = 1, 6
                field = line(7*columns(c)-6:7*columns(c))
                if (field == "") cycle rows_of_file
                read (field, *, iostat=status) row(c)
                if (status /= 0) call reject("column " // names(c) // " holds '" // trim(adjustl(field)) // &
                                             "', expected a number")
            end do
            if (size(rows, 2) > 0) then
                if (row(1) >= rows(1, size(rows, 2))) call reject("the pressure does not fall with height")
                if (row(2) <= rows(2, size(rows, 2))) call reject("the height does not rise")
            end if
            rows = reshape([rows, row], [6, size(rows, 2) + 1])
        end do rows_of_file
        close (unit)
        if (size(rows, 2) < 5) call reject("the table ends after fewer than 5 complete rows; is this the layout of " // &
                                           "the University of Wyoming?")
        s%z = rows(2, :) - rows(2, 1)
        s%p = 100 * rows(1, :)
        s%t = rows(3, :) + 273.15_wp
        s%qv = rows(4, :) / 1000
        s%u = -rows(6, :) * knot * sin(rows(5, :) * pi / 180)   ! direction: where the wind comes from
        s%v = -rows(6, :) * knot * cos(rows(5, :) * pi / 180)
    contains
        subroutine reject(why)
            character(*), intent(in) :: why
            character(12) :: at

            write (at, '(i0)') number
            call fail(path // ":" // trim(at) // ": " // why)
        end subroutine
    end function

    !> Interpolates the sounding to the model's levels and integrates the hydrostatic equation in its discrete form:
    !> (p(k+1) - p(k)) / dz = -g (ρm(k) + ρm(k+1)) / 2, where ρm and p both follow from ρd θm (Klemp et al. 2007).
    !> Humidity is capped at `rh_max` of saturation: a base state that condenses is none. Above the sounding:
    !> isothermal, same wind.
    function make_base_state(s, d, rh_max) result(b)
        type(profile), intent(in) :: s
        type(domain), intent(in) :: d
        real(wp), intent(in) :: rh_max
        type(base_state) :: b
        real(wp) :: theta(size(s%z)), qv(size(s%z)), step, above, below
        integer :: k, n, iteration

        n = size(s%z)
        theta = s%t * (p0 / s%p) ** kappa
        qv = min(s%qv, rh_max * saturation_mixing_ratio(s%p, s%t))
        b%z = [((k - 0.5_wp) * d%dz, k=1, d%nz)]
        b%theta = [(at(theta, b%z(k)) * exp(gravity * max(b%z(k) - s%z(n), 0.0_wp) / (cp * s%t(n))), k=1, d%nz)]
        b%qv = [(at(qv, b%z(k)), k=1, d%nz)]
        b%u = [(at(s%u, b%z(k)), k=1, d%nz)]
        b%v = [(at(s%v, b%z(k)), k=1, d%nz)]
        b%theta_m = b%theta * (1 + gas_ratio * b%qv)
        allocate (b%p(d%nz), b%imbalance(0:d%nz), source=0.0_wp)
        do k = 1, d%nz
            below = s%p(1)                       ! first from the ground up half a cell, then from centre to centre
            step = d%dz / 2
            if (k > 1) below = b%p(k - 1) - gravity * d%dz / 2 * moist_density(b%p(k - 1), k - 1)
            above = below - gravity * step * moist_density(below, k)
            do iteration = 1, 50                 ! a contraction by g dz / 2 c²: round-off after about ten
                above = below - gravity * step * moist_density(above, k)
            end do
            b%p(k) = above
        end do
        b%exner = (b%p / p0) ** kappa
        b%rho_moist = [(moist_density(b%p(k), k), k=1, d%nz)]
        b%rho = b%rho_moist / (1 + b%qv)
        do k = 1, d%nz - 1
            b%imbalance(k) = (b%p(k + 1) - b%p(k)) / d%dz + gravity * (b%rho_moist(k) + b%rho_moist(k + 1)) / 2
        end do
    contains
        pure function moist_density(p, k) result(rho)
            real(wp), intent(in) :: p
            integer, intent(in) :: k
            real(wp) :: rho

            rho = (1 + b%qv(k)) * p0 / (r_dry * b%theta_m(k)) * (p / p0) ** (cv / cp)
        end function

        pure function at(values, z) result(x)
            real(wp), intent(in) :: values(:), z
            real(wp) :: x, f
            integer :: i

            i = max(1, min(n - 1, count(s%z <= z)))
            f = min(max((z - s%z(i)) / (s%z(i + 1) - s%z(i)), 0.0_wp), 1.0_wp)
            x = (1 - f) * values(i) + f * values(i + 1)
        end function
    end function
end module
