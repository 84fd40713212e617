!> Fully compressible dynamics and transport of water on a C grid in flux form.
!>
!> Large steps: third-order Runge–Kutta with fifth- (horizontal) and third-order (vertical) upwind-biased fluxes
!> (Wicker & Skamarock 2002). Sound waves: small steps inside each stage, explicit in the horizontal, implicit in the
!> vertical (Klemp & Wilhelmson 1978), for deviations from the stage's latest state, with dry density and ρd θm as
!> prognostic variables, so that mass is conserved to round-off (Klemp, Skamarock & Dudhia 2007).
!> Nothing is summed beyond a cell's own neighbours: any number of ranks gives the same bits.
module dynamics
    use grid
    use atmosphere, only: base_state, exner_function
    implicit none
    private
    public :: model, start_model, step_model

    type :: model
        type(domain) :: d
        type(base_state) :: base
        real(wp), allocatable :: s(:, :, :, :)       !< the state, see i_u … i_qr
        real(wp), allocatable :: rain(:, :)          !< fallen to the ground, mm
        real(wp), allocatable :: sponge(:)           !< damping of w at faces, 1/s
        real(wp) :: dt                               !< s
        integer :: acoustic_steps                    !< small steps in a whole large step
    end type

    real(wp), parameter :: off_centre = 0.1_wp       !< of the implicit vertical step: damps vertical sound waves
    real(wp), parameter :: damping = 0.1_wp          !< weight of the pressure's last change: damps horizontal ones
    real(wp), parameter :: after = (1 + off_centre) / 2, before = (1 - off_centre) / 2

    real(wp) :: rdx, rdy, rdz                        !< 1 / dx …: a division costs as much as ten products

    ! Work space of a stage. Diagnosed: velocities, θm, total water and its species q, p', ∂p/∂(ρd θm). Mass fluxes through a control
    ! volume and the fluxes of what they carry. Slow tendencies. Small steps: deviations, mean mass fluxes over the
    ! small steps, pressure-gradient factors, the factorised implicit operator.
    real(wp), allocatable, dimension(:, :, :) :: u, v, w, theta, water, p, dpdth, limit, mx, my, mz, fx, fy, fz, &
                                                 du, dv, dw, dth, drho, dp, gx, gy, gz, lower, upper, pivot
    real(wp), allocatable, dimension(:, :, :, :) :: s0, tend, mean, q

contains

    !> Everything that follows from the base state; the state itself is the base state in its own wind.
    subroutine start_model(m, sponge_depth, sponge_rate)
        type(model), intent(inout) :: m
        real(wp), intent(in) :: sponge_depth, sponge_rate
        real(wp) :: depth
        real(wp), allocatable :: none(:, :, :)
        integer :: k

        allocate (m%s(1-halo:m%d%nxl+halo, 0:m%d%nz, 1-halo:m%d%nyl+halo, n_state), source=0.0_wp)
        allocate (m%rain(m%d%nxl, m%d%nyl), m%sponge(0:m%d%nz), source=0.0_wp)
        do k = 1, m%d%nz
            m%s(:, k, :, i_rho) = m%base%rho(k)
            m%s(:, k, :, i_th) = m%base%rho(k) * m%base%theta_m(k)
            m%s(:, k, :, i_u) = m%base%rho(k) * m%base%u(k)
            m%s(:, k, :, i_v) = m%base%rho(k) * m%base%v(k)
            m%s(:, k, :, i_qv) = m%base%rho(k) * m%base%qv(k)
            depth = max(0.0_wp, 1 - (m%d%nz - k) * m%d%dz / max(sponge_depth, m%d%dz))
            m%sponge(k) = sponge_rate * sin(pi / 2 * depth) ** 2
        end do
        rdx = 1 / m%d%dx; rdy = 1 / m%d%dy; rdz = 1 / m%d%dz
        s0 = m%s
        allocate (tend(1-halo:m%d%nxl+halo, 0:m%d%nz, 1-halo:m%d%nyl+halo, 5), source=0.0_wp)
        allocate (mean(1-halo:m%d%nxl+halo, 0:m%d%nz, 1-halo:m%d%nyl+halo, 3), source=0.0_wp)
        allocate (q(1-halo:m%d%nxl+halo, 0:m%d%nz, 1-halo:m%d%nyl+halo, i_qv:i_qr), source=0.0_wp)
        allocate (none(1-halo:m%d%nxl+halo, 0:m%d%nz, 1-halo:m%d%nyl+halo), source=0.0_wp)
        allocate (u, v, w, theta, water, p, dpdth, limit, mx, my, mz, fx, fy, fz, du, dv, dw, dth, drho, dp, gx, gy, gz, &
                  lower, upper, pivot, source=none)
    end subroutine

    subroutine step_model(m)
        type(model), intent(inout) :: m
        integer :: stage, iq

        do stage = 1, 3
            call exchange(m%d, m%s, n_state, halo)
            if (stage == 1) s0 = m%s
            call diagnose(m%d, m%base, m%s)
            call slow_tendencies(m%d, m%base, m%sponge, m%s)
            call small_steps(m%d, m%s, m%dt / (4 - stage), (m%acoustic_steps + 3 - stage) / (4 - stage))
            do iq = i_qv, i_qr
                call transport(m%d, m%s(:, :, :, iq), s0(:, :, :, iq), q(:, :, :, iq), m%dt / (4 - stage), stage == 3)
            end do
        end do
    end subroutine

    !> Velocities, mixing ratios and pressure of the stage's state, halos included.
    subroutine diagnose(d, base, s)
        type(domain), intent(in) :: d
        type(base_state), intent(in) :: base
        real(wp), intent(in) :: s(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo, n_state)
        real(wp) :: exner
        integer :: i, j, k

        do j = 1-halo, d%nyl+halo
            do k = 1, d%nz
                do i = 1-halo, d%nxl+halo
                    theta(i, k, j) = s(i, k, j, i_th) / s(i, k, j, i_rho)
                    q(i, k, j, i_qv) = s(i, k, j, i_qv) / s(i, k, j, i_rho)
                    q(i, k, j, i_qc) = s(i, k, j, i_qc) / s(i, k, j, i_rho)
                    q(i, k, j, i_qr) = s(i, k, j, i_qr) / s(i, k, j, i_rho)
                    water(i, k, j) = q(i, k, j, i_qv) + q(i, k, j, i_qc) + q(i, k, j, i_qr)
                end do
                do i = 1-halo, d%nxl+halo-1
                    u(i, k, j) = 2 * s(i, k, j, i_u) / (s(i, k, j, i_rho) + s(i + 1, k, j, i_rho))
                end do
                if (j == d%nyl + halo) cycle
                do i = 1-halo, d%nxl+halo
                    v(i, k, j) = 2 * s(i, k, j, i_v) / (s(i, k, j, i_rho) + s(i, k, j + 1, i_rho))
                end do
                if (k == d%nz) cycle
                do i = 1-halo, d%nxl+halo
                    w(i, k, j) = 2 * s(i, k, j, i_w) / (s(i, k, j, i_rho) + s(i, k + 1, j, i_rho))
                end do
            end do
            if (j < 0 .or. j > d%nyl + 1) cycle
            do k = 1, d%nz
                do i = 0, d%nxl + 1                      ! p = p0 (Rd ρd θm / p0)^(cp/cv) = Rd ρd θm π
                    exner = exner_function(s(i, k, j, i_th))
                    p(i, k, j) = r_dry * s(i, k, j, i_th) * exner - base%p(k)
                    dpdth(i, k, j) = cp / cv * r_dry * exner
                end do
            end do
        end do
    end subroutine

    !> What changes slowly enough for the large step: advection, pressure gradient and buoyancy of the stage's state.
    subroutine slow_tendencies(d, base, sponge, s)
        type(domain), intent(in) :: d
        type(base_state), intent(in) :: base
        real(wp), intent(in) :: sponge(0:d%nz)
        real(wp), intent(in) :: s(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo, n_state)
        real(wp) :: excess
        integer :: i, j, k, n, m, nz

        n = d%nxl; m = d%nyl; nz = d%nz
        ! u: control volumes shifted by half a cell to the east, their mass fluxes averaged
        mx(-1:n, 1:nz, 1:m) = (s(-1:n, 1:nz, 1:m, i_u) + s(0:n+1, 1:nz, 1:m, i_u)) / 2
        my(0:n, 1:nz, 0:m) = (s(0:n, 1:nz, 0:m, i_v) + s(1:n+1, 1:nz, 0:m, i_v)) / 2
        mz(0:n, :, 1:m) = (s(0:n, :, 1:m, i_w) + s(1:n+1, :, 1:m, i_w)) / 2
        call fluxes(d, u, mx, my, mz, 0, 1, 1)
        call converge(d, tend(:, :, :, i_u), 0, 1)
        do concurrent (i = 0:n, k = 1:nz, j = 1:m)
            gx(i, k, j) = rdx / (1 + (water(i, k, j) + water(i + 1, k, j)) / 2)
            tend(i, k, j, i_u) = tend(i, k, j, i_u) - gx(i, k, j) * (p(i + 1, k, j) - p(i, k, j))
        end do
        ! v: shifted to the north
        mx(0:n, 1:nz, 0:m) = (s(0:n, 1:nz, 0:m, i_u) + s(0:n, 1:nz, 1:m+1, i_u)) / 2
        my(1:n, 1:nz, -1:m) = (s(1:n, 1:nz, -1:m, i_v) + s(1:n, 1:nz, 0:m+1, i_v)) / 2
        mz(1:n, :, 0:m) = (s(1:n, :, 0:m, i_w) + s(1:n, :, 1:m+1, i_w)) / 2
        call fluxes(d, v, mx, my, mz, 1, 0, 1)
        call converge(d, tend(:, :, :, i_v), 1, 0)
        do concurrent (i = 1:n, k = 1:nz, j = 0:m)
            gy(i, k, j) = rdy / (1 + (water(i, k, j) + water(i, k, j + 1)) / 2)
            tend(i, k, j, i_v) = tend(i, k, j, i_v) - gy(i, k, j) * (p(i, k, j + 1) - p(i, k, j))
        end do
        ! w: shifted upwards
        mx(0:n, 1:nz-1, 1:m) = (s(0:n, 1:nz-1, 1:m, i_u) + s(0:n, 2:nz, 1:m, i_u)) / 2
        my(1:n, 1:nz-1, 0:m) = (s(1:n, 1:nz-1, 0:m, i_v) + s(1:n, 2:nz, 0:m, i_v)) / 2
        mz(1:n, 0:nz-1, 1:m) = (s(1:n, 0:nz-1, 1:m, i_w) + s(1:n, 1:nz, 1:m, i_w)) / 2
        call fluxes(d, w, mx, my, mz, 1, 1, 0)
        call converge(d, tend(:, :, :, i_w), 1, 1)
        do concurrent (i = 1:n, k = 1:nz - 1, j = 1:m)
            gz(i, k, j) = rdz / (1 + (water(i, k, j) + water(i, k + 1, j)) / 2)
            excess = (s(i, k, j, i_rho) * (1 + water(i, k, j)) - base%rho_moist(k) + &
                      s(i, k + 1, j, i_rho) * (1 + water(i, k + 1, j)) - base%rho_moist(k + 1)) / 2
            tend(i, k, j, i_w) = tend(i, k, j, i_w) - sponge(k) * s(i, k, j, i_w) - gz(i, k, j) * &
                (p(i, k + 1, j) - p(i, k, j) + d%dz * (gravity * excess + base%imbalance(k)))
        end do
        ! θm and dry density
        call fluxes(d, theta, s(:, :, :, i_u), s(:, :, :, i_v), s(:, :, :, i_w), 1, 1, 1)
        call converge(d, tend(:, :, :, i_th), 1, 1)
        fx(0:n, 1:nz, 1:m) = s(0:n, 1:nz, 1:m, i_u)
        fy(1:n, 1:nz, 0:m) = s(1:n, 1:nz, 0:m, i_v)
        fz(1:n, :, 1:m) = s(1:n, :, 1:m, i_w)
        call converge(d, tend(:, :, :, i_rho), 1, 1)
    end subroutine

    !> Fluxes of c, carried by the mass fluxes (ax, ay, az), through the upper faces of the control volumes from (ia,
    !> ja) on, and through the lower faces of the first ones. kb: the lowest face that something passes.
    subroutine fluxes(d, c, ax, ay, az, ia, ja, kb)
        type(domain), intent(in) :: d
        real(wp), intent(in), dimension(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo) :: c, ax, ay, az
        integer, intent(in) :: ia, ja, kb
        integer :: i, j, k

        do j = ja - 1, d%nyl
            do k = 1, d%nz
                do i = ia, d%nxl
                    fy(i, k, j) = upwind5(ay(i, k, j), c(i, k, j - 2), c(i, k, j - 1), c(i, k, j), c(i, k, j + 1), &
                                          c(i, k, j + 2), c(i, k, j + 3))
                end do
                if (j < ja) cycle
                do i = ia - 1, d%nxl
                    fx(i, k, j) = upwind5(ax(i, k, j), c(i - 2, k, j), c(i - 1, k, j), c(i, k, j), c(i + 1, k, j), &
                                          c(i + 2, k, j), c(i + 3, k, j))
                end do
            end do
            fz(:, 0, j) = 0                          ! nothing through the ground and the lid
            fz(:, d%nz, j) = 0
            do k = kb, d%nz - 1
                if (k == kb .or. k == d%nz - 1) then
                    fz(ia:d%nxl, k, j) = az(ia:d%nxl, k, j) * (c(ia:d%nxl, k, j) + c(ia:d%nxl, k + 1, j)) / 2
                    cycle
                end if
                do i = ia, d%nxl
                    fz(i, k, j) = upwind3(az(i, k, j), c(i, k - 1, j), c(i, k, j), c(i, k + 1, j), c(i, k + 2, j))
                end do
            end do
        end do
    end subroutine

    !> Wicker & Skamarock (2002), eqs. 4: the centred interpolation to the face between c and n, and a difference whose
    !> sign follows the wind.
    elemental function upwind5(flow, aa, a, c, n, nn, nnn) result(f)
        real(wp), intent(in) :: flow, aa, a, c, n, nn, nnn
        real(wp) :: f

        f = flow * (37 * (c + n) - 8 * (a + nn) + (aa + nnn)) * (1 / 60.0_wp) &
            - abs(flow) * (10 * (n - c) - 5 * (nn - a) + (nnn - aa)) * (1 / 60.0_wp)
    end function

    elemental function upwind3(flow, a, c, n, nn) result(f)
        real(wp), intent(in) :: flow, a, c, n, nn
        real(wp) :: f

        f = flow * (7 * (c + n) - (a + nn)) * (1 / 12.0_wp) - abs(flow) * (3 * (n - c) - (nn - a)) * (1 / 12.0_wp)
    end function

    !> What the fluxes leave in each control volume, per time and volume.
    subroutine converge(d, c, ia, ja)
        type(domain), intent(in) :: d
        real(wp), intent(inout) :: c(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo)
        integer, intent(in) :: ia, ja
        integer :: i, j, k

        do concurrent (i = ia:d%nxl, k = 1:d%nz, j = ja:d%nyl)
            c(i, k, j) = -(fx(i, k, j) - fx(i - 1, k, j)) * rdx - (fy(i, k, j) - fy(i, k, j - 1)) * rdy &
                         - (fz(i, k, j) - fz(i, k - 1, j)) * rdz
        end do
    end subroutine

    !> From time t over `dt` in `steps` small steps; slow tendencies stay as they are. Leaves the new momentum, ρd θm
    !> and density in s and the mean mass fluxes, those that density felt, in `mean`.
    subroutine small_steps(d, s, dt, steps)
        type(domain), intent(in) :: d
        real(wp), intent(inout) :: s(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo, n_state)
        real(wp), intent(in) :: dt
        integer, intent(in) :: steps
        real(wp) :: tau, b, g
        integer :: i, j, k, n, m, nz, step

        n = d%nxl; m = d%nyl; nz = d%nz
        tau = dt / steps; b = tau * after / d%dz; g = gravity * tau * after / 2
        du = s0(:, :, :, i_u) - s(:, :, :, i_u)
        dv = s0(:, :, :, i_v) - s(:, :, :, i_v)
        dw = s0(:, :, :, i_w) - s(:, :, :, i_w)
        dth = s0(:, :, :, i_th) - s(:, :, :, i_th)
        drho = s0(:, :, :, i_rho) - s(:, :, :, i_rho)
        dp = dpdth * dth
        mean = 0
        call factorise(d, b, g)
        do step = 1, steps
            if (step > 1) call exchange(d, dp, 1, 1)
            do j = 0, m                              ! a row's new pressure is not needed by the rows after it
                do k = 1, nz
                    do i = 1, n
                        dv(i, k, j) = dv(i, k, j) + tau * (tend(i, k, j, i_v) - gy(i, k, j) * (dp(i, k, j + 1) - dp(i, k, j)))
                        mean(i, k, j, i_v) = mean(i, k, j, i_v) + dv(i, k, j)
                    end do
                    if (j == 0) cycle
                    do i = 0, n
                        du(i, k, j) = du(i, k, j) + tau * (tend(i, k, j, i_u) - gx(i, k, j) * (dp(i + 1, k, j) - dp(i, k, j)))
                        mean(i, k, j, i_u) = mean(i, k, j, i_u) + du(i, k, j)
                    end do
                end do
                if (j > 0) call implicit_columns(d, j, tau, b)
            end do
        end do
        mean(0:n, :, 1:m, i_u) = s(0:n, :, 1:m, i_u) + mean(0:n, :, 1:m, i_u) / steps
        mean(1:n, :, 0:m, i_v) = s(1:n, :, 0:m, i_v) + mean(1:n, :, 0:m, i_v) / steps
        mean(1:n, :, 1:m, i_w) = s(1:n, :, 1:m, i_w) + mean(1:n, :, 1:m, i_w) / steps
        s(1:n, :, 1:m, i_u) = s(1:n, :, 1:m, i_u) + du(1:n, :, 1:m)
        s(1:n, :, 1:m, i_v) = s(1:n, :, 1:m, i_v) + dv(1:n, :, 1:m)
        s(1:n, :, 1:m, i_w) = s(1:n, :, 1:m, i_w) + dw(1:n, :, 1:m)
        s(1:n, :, 1:m, i_th) = s(1:n, :, 1:m, i_th) + dth(1:n, :, 1:m)
        s(1:n, :, 1:m, i_rho) = s(1:n, :, 1:m, i_rho) + drho(1:n, :, 1:m)
    end subroutine

    !> The implicit operator for w of a stage: ρ and ρθ at the end of a small step, put into w's equation, leave a
    !> tridiagonal system per column. Its factors: lower as it is, upper and pivot of the eliminated form.
    subroutine factorise(d, b, g)
        type(domain), intent(in) :: d
        real(wp), intent(in) :: b, g
        real(wp) :: c, up, down, here
        integer :: i, j, k

        do k = 1, d%nz - 1
            do concurrent (i = 1:d%nxl, j = 1:d%nyl)
                c = b * b * d%dz * gz(i, k, j) / 2                               ! θ at faces is half a sum
                up = dpdth(i, k + 1, j)
                down = dpdth(i, k, j)
                here = theta(i, k, j) + theta(i, k + 1, j)
                lower(i, k, j) = g * b
                if (k > 1) lower(i, k, j) = g * b - c * down * (theta(i, k - 1, j) + theta(i, k, j))
                pivot(i, k, j) = 1 / (1 + c * here * (up + down) - lower(i, k, j) * upper(i, k - 1, j))
                if (k < d%nz - 1) upper(i, k, j) = -(g * b + c * up * (theta(i, k + 1, j) + theta(i, k + 2, j))) &
                                                   * pivot(i, k, j)
            end do
        end do
    end subroutine

    !> One small step of w, ρd θm and density for the columns of row j; then the pressure for the next one.
    subroutine implicit_columns(d, j, tau, b)
        type(domain), intent(in) :: d
        integer, intent(in) :: j
        real(wp), intent(in) :: tau, b
        real(wp) :: rho(d%nxl, d%nz), th(d%nxl, d%nz), new(d%nxl, 0:d%nz), flux(d%nxl, 0:d%nz), old
        integer :: i, k

        ! all but the implicit part: slow tendency, horizontal divergence, the vertical one of the old w
        do k = 0, d%nz - 1
            flux(:, k) = before * dw(1:d%nxl, k, j) * (theta(1:d%nxl, k, j) + theta(1:d%nxl, k + 1, j)) / 2
        end do
        flux(:, d%nz) = 0
        do k = 1, d%nz
            do i = 1, d%nxl
                rho(i, k) = drho(i, k, j) + tau * (tend(i, k, j, i_rho) - (du(i, k, j) - du(i - 1, k, j)) * rdx &
                    - (dv(i, k, j) - dv(i, k, j - 1)) * rdy - before * (dw(i, k, j) - dw(i, k - 1, j)) * rdz)
                th(i, k) = dth(i, k, j) + tau * (tend(i, k, j, i_th) - (flux(i, k) - flux(i, k - 1)) * rdz &
                    - (du(i, k, j) * (theta(i, k, j) + theta(i + 1, k, j)) &
                       - du(i - 1, k, j) * (theta(i - 1, k, j) + theta(i, k, j))) * (rdx / 2) &
                    - (dv(i, k, j) * (theta(i, k, j) + theta(i, k, j + 1)) &
                       - dv(i, k, j - 1) * (theta(i, k, j - 1) + theta(i, k, j))) * (rdy / 2))
            end do
        end do
        ! w: right-hand side and elimination upwards, substitution downwards
        new(:, 0) = 0
        new(:, d%nz) = 0
        do k = 1, d%nz - 1
            do i = 1, d%nxl
                new(i, k) = dw(i, k, j) + tau * tend(i, k, j, i_w) - tau * gz(i, k, j) * &
                    (dpdth(i, k + 1, j) * (before * dth(i, k + 1, j) + after * th(i, k + 1)) &
                     - dpdth(i, k, j) * (before * dth(i, k, j) + after * th(i, k))) &
                    - tau * gravity / 2 * (before * (drho(i, k, j) + drho(i, k + 1, j)) + after * (rho(i, k) + rho(i, k + 1)))
                new(i, k) = (new(i, k) - lower(i, k, j) * new(i, k - 1)) * pivot(i, k, j)
            end do
        end do
        do k = d%nz - 1, 1, -1
            do i = 1, d%nxl
                new(i, k) = new(i, k) - upper(i, k, j) * new(i, k + 1)
                mean(i, k, j, i_w) = mean(i, k, j, i_w) + after * new(i, k) + before * dw(i, k, j)
                dw(i, k, j) = new(i, k)
                flux(i, k) = new(i, k) * (theta(i, k, j) + theta(i, k + 1, j)) / 2
            end do
        end do
        do k = 1, d%nz
            do i = 1, d%nxl
                drho(i, k, j) = rho(i, k) - b * (new(i, k) - new(i, k - 1))
                old = dth(i, k, j)
                dth(i, k, j) = th(i, k) - b * (flux(i, k) - flux(i, k - 1))
                dp(i, k, j) = dpdth(i, k, j) * (dth(i, k, j) + damping * (dth(i, k, j) - old))
            end do
        end do
    end subroutine

    !> ρd q of one water species from time t over dt with the mean mass fluxes. At the last stage no cell gives more than
    !> it has: its outward fluxes are scaled down alike (Smolarkiewicz 1989), which conserves and keeps q positive.
    subroutine transport(d, rq, rq0, c, dt, positive)
        type(domain), intent(in) :: d
        real(wp), intent(inout) :: rq(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo)
        real(wp), intent(in), dimension(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo) :: rq0, c
        real(wp), intent(in) :: dt
        logical, intent(in) :: positive
        real(wp) :: given, there
        integer :: i, j, k, n, m, nz

        n = d%nxl; m = d%nyl; nz = d%nz
        call fluxes(d, c, mean(:, :, :, i_u), mean(:, :, :, i_v), mean(:, :, :, i_w), 1, 1, 1)
        if (positive) then
            do concurrent (i = 1:n, k = 1:nz, j = 1:m)
                given = dt * ((max(fx(i, k, j), 0.0_wp) - min(fx(i - 1, k, j), 0.0_wp)) * rdx + &
                              (max(fy(i, k, j), 0.0_wp) - min(fy(i, k, j - 1), 0.0_wp)) * rdy + &
                              (max(fz(i, k, j), 0.0_wp) - min(fz(i, k - 1, j), 0.0_wp)) * rdz)
                there = max(rq0(i, k, j), 0.0_wp)    ! round-off may leave less than nothing
                limit(i, k, j) = 1
                if (given > there) limit(i, k, j) = there / given
            end do
            call exchange(d, limit, 1, 1)
            fx(0:n, 1:nz, 1:m) = fx(0:n, 1:nz, 1:m) * merge(limit(0:n, 1:nz, 1:m), limit(1:n+1, 1:nz, 1:m), &
                                                            fx(0:n, 1:nz, 1:m) > 0)
            fy(1:n, 1:nz, 0:m) = fy(1:n, 1:nz, 0:m) * merge(limit(1:n, 1:nz, 0:m), limit(1:n, 1:nz, 1:m+1), &
                                                            fy(1:n, 1:nz, 0:m) > 0)
            fz(1:n, 1:nz-1, 1:m) = fz(1:n, 1:nz-1, 1:m) * merge(limit(1:n, 1:nz-1, 1:m), limit(1:n, 2:nz, 1:m), &
                                                                fz(1:n, 1:nz-1, 1:m) > 0)
        end if
        call converge(d, rq, 1, 1)
        rq(1:n, 1:nz, 1:m) = rq0(1:n, 1:nz, 1:m) + dt * rq(1:n, 1:nz, 1:m)
    end subroutine
end module
