!> Warm rain after Kessler (1969) in the form of Klemp & Wilhelmson (1978), eqs. 2.11–2.15.
module microphysics
    use grid
    implicit none
    private
    public :: kessler, saturation_mixing_ratio

contains

    !> Over water, Tetens' formula; p in Pa, t in K.
    elemental function saturation_mixing_ratio(p, t) result(qvs)
        real(wp), intent(in) :: p, t
        real(wp) :: qvs, es

        es = 610.78_wp * exp(17.269_wp * (t - 273.16_wp) / (t - 35.86_wp))
        qvs = es / gas_ratio / max(p - es, es)
    end function

    !> One step of all columns of this rank. Water only changes its phase or falls: what reaches the ground is added to
    !> `rain` (kg/m², that is mm). Dry density and pressure function are those of the step's end.
    subroutine kessler(d, s, rho0, dt, rain)
        type(domain), intent(in) :: d
        real(wp), intent(inout) :: s(1-halo:d%nxl+halo, 0:d%nz, 1-halo:d%nyl+halo, n_state)
        real(wp), intent(in) :: rho0(d%nz), dt
        real(wp), intent(inout) :: rain(d%nxl, d%nyl)
        real(wp), dimension(d%nz) :: rho, qv, qc, qr, theta, exner
        integer :: i, j

        do j = 1, d%nyl
            do i = 1, d%nxl
                rho = s(i, 1:d%nz, j, i_rho)
                qv = s(i, 1:d%nz, j, i_qv) / rho
                qc = s(i, 1:d%nz, j, i_qc) / rho
                qr = s(i, 1:d%nz, j, i_qr) / rho
                exner = (r_dry / p0 * s(i, 1:d%nz, j, i_th)) ** (r_dry / cv)
                theta = s(i, 1:d%nz, j, i_th) / (rho * (1 + gas_ratio * qv))
                if (any(qr > 0)) call fall(rho, rho0(1), d%dz, dt, qr, rain(i, j))
                call convert(rho, exner, dt, theta, qv, qc, qr)
                s(i, 1:d%nz, j, i_qv) = rho * qv
                s(i, 1:d%nz, j, i_qc) = rho * qc
                s(i, 1:d%nz, j, i_qr) = rho * qr
                s(i, 1:d%nz, j, i_th) = rho * theta * (1 + gas_ratio * qv)
            end do
        end do
    end subroutine

    !> Rain falls at its mass-weighted terminal velocity; upstream fluxes, in as many steps as its Courant number needs.
    pure subroutine fall(rho, rho_ground, dz, dt, qr, rain)
        real(wp), intent(in) :: rho(:), rho_ground, dz, dt
        real(wp), intent(inout) :: qr(:), rain
        real(wp) :: speed(size(qr)), flux(size(qr) + 1)
        integer :: step, steps, nz

        nz = size(qr)
        speed = 36.34_wp * (1.0e-3_wp * rho * max(qr, 0.0_wp)) ** 0.1346_wp * sqrt(rho_ground / rho)   ! KW78 2.15, m/s
        steps = ceiling(1.2_wp * dt * maxval(speed) / dz) ! kept for all steps: rain that falls gets no faster by much
        do step = 1, steps
            flux(1:nz) = rho * max(qr, 0.0_wp) * min(speed, dz * steps / dt)
            flux(nz + 1) = 0
            rain = rain + dt / steps * flux(1)
            qr = qr + dt / steps * (flux(2:) - flux(:nz)) / (rho * dz)
        end do
    end subroutine

    !> Autoconversion and accretion of cloud water, saturation adjustment, evaporation of rain into what stays dry.
    pure subroutine convert(rho, exner, dt, theta, qv, qc, qr)
        real(wp), intent(in) :: rho(:), exner(:), dt
        real(wp), intent(inout) :: theta(:), qv(:), qc(:), qr(:)
        real(wp) :: t, p, qvs, cloud_to_rain, wanted, condensed, evaporated, rate, content, mbar
        integer :: k

        do k = 1, size(qv)
            if (qc(k) > 0) then                                                                 ! KW78 2.13
                cloud_to_rain = dt * (1.0e-3_wp * max(qc(k) - 1.0e-3_wp, 0.0_wp) + &
                                      2.2_wp * qc(k) * max(qr(k), 0.0_wp) ** 0.875_wp)
                cloud_to_rain = min(cloud_to_rain, qc(k))
                qc(k) = qc(k) - cloud_to_rain
                qr(k) = qr(k) + cloud_to_rain
            end if
            t = theta(k) * exner(k)
            p = r_dry * rho(k) * theta(k) * (1 + gas_ratio * qv(k)) * exner(k)
            qvs = saturation_mixing_ratio(p, t)
            wanted = (qv(k) - qvs) / &
                     (1 + latent_heat / cp * qvs * 17.269_wp * (273.16_wp - 35.86_wp) / (t - 35.86_wp) ** 2)
            condensed = max(wanted, -max(qc(k), 0.0_wp))
            evaporated = 0
            if (qr(k) > 0 .and. qv(k) < qvs) then                                               ! KW78 2.14
                content = 1.0e-3_wp * rho(k) * qr(k)                                            ! g/cm³
                mbar = 0.01_wp * p
                rate = (1 - qv(k) / qvs) * (1.6_wp + 124.9_wp * content ** 0.2046_wp) * content ** 0.525_wp / &
                       (1.0e-3_wp * rho(k) * (5.4e5_wp + 2.55e6_wp / (mbar * qvs)))
                evaporated = min(dt * rate, qr(k), condensed - wanted)
            end if
            qv(k) = qv(k) - condensed + evaporated
            qc(k) = qc(k) + condensed
            qr(k) = qr(k) - evaporated
            theta(k) = theta(k) + latent_heat / (cp * exner(k)) * (condensed - evaporated)
        end do
    end subroutine
end module
