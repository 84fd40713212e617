!> A cumulonimbus from an observed sounding. See README.md.
program cloud_model
    use grid
    use settings
    use atmosphere
    use microphysics, only: kessler
    use dynamics
    use fields, only: fill_halo, derive_fields
    use files, only: write_files
    use output_memory
    use output_halcyon
    use phases
    use system, only: make_directories
    implicit none
    type(model) :: m
    type(run_outcome) :: result
    real(real32), allocatable :: shown(:, :, :, :)
    real(wp) :: dry0, water0
    integer :: step
    integer(int64) :: bytes

    call MPI_Init()
    call read_settings()
    call decompose(m%d, MPI_COMM_WORLD, px, py, nx, ny, nz, dx, dy, dz)
    m%dt = dt
    m%acoustic_steps = acoustic
    m%base = make_base_state(read_sounding(trim(sounding)), m%d, rh_max)
    if (.not. wind) m%base%u = 0
    if (.not. wind) m%base%v = 0
    m%base%u = m%base%u - u_frame
    m%base%v = m%base%v - v_frame
    call start_model(m, sponge_depth, sponge_rate)
    call add_bubble()
    dry0 = dry_mass()
    water0 = water_mass()
    if (m%d%rank == 0) call make_directories(trim(directory))
    call MPI_Barrier(m%d%comm)
    result%wmax = 0
    if (m%d%rank == 0) write (*, '(8(a,i0))') "cloud: ", nx, " x ", ny, " x ", nz, " cells on ", m%d%px, " x ", m%d%py, &
        " ranks, output " // trim(output) // " every ", output_every, " of ", steps, " steps"

    call begin_run(steps / output_every)
    if (output == "halcyon") call open_halcyon(m%d, trim(halcyon_config))
    call output_opened()
    do step = 1, steps
        call step_model(m)
        call kessler(m%d, m%s, m%base%rho, m%dt, m%rain)
        if (mod(step, output_every) /= 0 .and. step /= steps) cycle
        call report()
        if (mod(step, output_every) /= 0) cycle
        call fill_halo(m)
        call derive_fields(m, shown)
        call begin_phase()
        bytes = 0
        select case (output)
        case ("file-per-process", "collective")
            bytes = write_files(m, shown, trim(directory), step / output_every - 1, output == "collective", gzip, sync)
        case ("halcyon")
            bytes = write_halcyon(shown)
        case ("memory")
            bytes = write_memory(shown)
        end select
        call end_phase(bytes)
    end do
    if (output == "halcyon") call close_halcyon()

    result%state = digest()
    call write_run(m%d, result)
    if (m%d%rank == 0) write (*, '(a,f8.1,2(a,f0.2),2(a,es9.2))') "end: time ", &
        result%simulated_s, " s, w max ", result%wmax, " m/s, rain max ", result%rain_max, " mm, dry mass error ", &
        result%dry_mass_error, ", water error ", result%water_error
    call MPI_Finalize()

contains

    !> A warm ellipsoid at the pressure of its surroundings: θ rises by bubble_k cos² of the distance, density falls.
    subroutine add_bubble()
        real(wp) :: r, warm
        integer :: i, j, k

        do concurrent (i = 1:m%d%nxl, j = 1:m%d%nyl, k = 1:nz)
            r = sqrt((((m%d%i0 + i - 0.5_wp) - bubble_x * nx) * dx / bubble_radius) ** 2 + &
                     (((m%d%j0 + j - 0.5_wp) - bubble_y * ny) * dy / bubble_radius) ** 2 + &
                     (((k - 0.5_wp) * dz - bubble_z) / bubble_depth) ** 2)
            if (r >= 1) cycle
            warm = 1 + bubble_k * cos(pi / 2 * r) ** 2 / m%base%theta(k)
            m%s(i, k, j, :) = m%s(i, k, j, :) / warm
            m%s(i, k, j, i_th) = m%base%rho(k) * m%base%theta_m(k)
        end do
        call exchange(m%d, m%s, n_state, halo)
    end subroutine

    !> One line of log; stops a run that has become unstable.
    subroutine report()
        real(wp) :: w

        associate (s => m%s(1:m%d%nxl, :, 1:m%d%nyl, :))
            w = maxval(abs(s(:, 1:nz-1, :, i_w)) * 2 / (s(:, 1:nz-1, :, i_rho) + s(:, 2:nz, :, i_rho)))
            w = global_max(m%d, merge(w, huge(w), abs(w) <= 1000))
        end associate
        result%wmax = max(result%wmax, w)
        result%simulated_s = step * dt
        result%rain_max = global_max(m%d, maxval(m%rain))
        result%dry_mass_error = (dry_mass() - dry0) / dry0
        result%water_error = (water_mass() - water0) / max(water0, tiny(water0))
        if (m%d%rank == 0) write (*, '(a,i6,a,f8.1,2(a,f7.2),a)') "step ", step, "  time ", step * dt, " s  w max ", w, &
            " m/s  rain max ", result%rain_max, " mm"
        if (w > 1000) call fail("the run is unstable: use a smaller dt or more acoustic steps")
    end subroutine

    real(wp) function dry_mass()
        dry_mass = global_sum(m%d, total(i_rho))
    end function

    !> In the air and on the ground, kg.
    real(wp) function water_mass()
        water_mass = global_sum(m%d, total(i_qv) + total(i_qc) + total(i_qr) + sum(m%rain) * dx * dy)
    end function

    real(wp) function total(field)
        integer, intent(in) :: field

        total = sum(sum(m%s(1:m%d%nxl, 1:nz, 1:m%d%nyl, field), dim=2)) * dx * dy * dz
    end function

    !> Of the bits of the whole state and of where they stand, in any order of summation.
    character(16) function digest()
        integer(int64) :: mine, all, place
        integer :: i, j, k, field

        mine = 0
        do field = 1, n_state
            do j = 1, m%d%nyl
                do k = 0, nz
                    do i = 1, m%d%nxl
                        place = ((int(m%d%j0 + j, int64) * (nz + 1) + k) * nx + m%d%i0 + i) * n_state + field
                        mine = ieor(mine, ishftc(transfer(real(m%s(i, k, j, field), real64), mine), int(mod(place, 63_int64))))
                    end do
                end do
            end do
        end do
        call MPI_Allreduce(mine, all, 1, MPI_INTEGER8, MPI_BXOR, m%d%comm)
        write (digest, '(z16.16)') all
    end function
end program
