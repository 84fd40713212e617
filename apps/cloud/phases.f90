!> How long the output held the simulation up: one record per rank and output phase, and the files that tell.
module phases
    use grid
    use system
    use settings, only: nx, ny, nz, steps, directory, output
    implicit none
    private
    public :: begin_run, output_opened, begin_phase, end_phase, write_run, run_outcome

    !> What the model itself has to say at the end.
    type :: run_outcome
        real(wp) :: wmax, rain_max, dry_mass_error, water_error, simulated_s
        character(16) :: state              !< digest of all prognostic bits: equal for equal states
    end type

    integer, parameter :: columns = 4                        ! begin_ns, visible_ns, compute_ns, bytes
    integer(int64), allocatable :: records(:, :)
    integer(int64) :: started_ns, opened_ns, previous_end_ns, begin_ns
    integer :: n = 0

contains

    subroutine begin_run(phases_at_most)
        integer, intent(in) :: phases_at_most

        allocate (records(columns, phases_at_most), source=0_int64)
        started_ns = now_ns()
    end subroutine

    subroutine output_opened()
        opened_ns = now_ns()
        previous_end_ns = opened_ns
    end subroutine

    subroutine begin_phase()
        begin_ns = now_ns()
    end subroutine

    subroutine end_phase(bytes)
        integer(int64), intent(in) :: bytes
        integer(int64) :: now

        now = now_ns()
        n = n + 1
        records(:, n) = [begin_ns, now - begin_ns, begin_ns - previous_end_ns, bytes]
        previous_end_ns = now
    end subroutine

    !> Collective. Rank 0 writes app.json, phases-app.csv and, unless Halcyon does, run.json.
    subroutine write_run(d, result)
        type(domain), intent(in) :: d
        type(run_outcome), intent(in) :: result
        integer(int64), allocatable :: all_records(:, :, :)
        integer(int64) :: ended_ns
        real(real64) :: compute_s, output_s, run_s, open_s, close_s
        integer, allocatable :: node_sizes(:)
        integer :: unit, phase, r, node_rank, node_size, sizes(d%ranks)
        type(MPI_Comm) :: node

        ended_ns = now_ns()
        run_s = (ended_ns - started_ns) * 1.0e-9_real64
        open_s = (opened_ns - started_ns) * 1.0e-9_real64
        close_s = 0
        if (output == "halcyon") close_s = (ended_ns - previous_end_ns) * 1.0e-9_real64
        compute_s = (sum(records(3, :n)) + ended_ns - previous_end_ns) * 1.0e-9_real64 - close_s
        output_s = sum(records(2, :n)) * 1.0e-9_real64
        allocate (all_records(columns, n, merge(d%ranks, 0, d%rank == 0)))
        call MPI_Gather(records, columns * n, MPI_INTEGER8, all_records, columns * n, MPI_INTEGER8, 0, d%comm)
        call MPI_Comm_split_type(d%comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
        call MPI_Comm_rank(node, node_rank)
        call MPI_Comm_size(node, node_size)
        call MPI_Comm_free(node)
        call MPI_Gather(merge(node_size, 0, node_rank == 0), 1, MPI_INTEGER, sizes, 1, MPI_INTEGER, 0, d%comm)
        if (d%rank /= 0) return
        node_sizes = pack(sizes, sizes > 0)

        open (newunit=unit, file=trim(directory) // "/app.json", status="replace", action="write")
        write (unit, '(3a,5(a,es21.14),2(a,i0),5(a,es21.14),3a)') '{"approach": "', trim(output), '"', &
            ', "run_s": ', run_s, ', "compute_s": ', compute_s, ', "output_s": ', output_s, &
            ', "open_s": ', open_s, ', "close_s": ', close_s, &
            ', "steps": ', steps, ', "ranks": ', d%ranks, ', "simulated_s": ', result%simulated_s, &
            ', "wmax": ', result%wmax, ', "rain_max_mm": ', result%rain_max, &
            ', "dry_mass_error": ', result%dry_mass_error, ', "water_error": ', result%water_error, &
            ', "state": "', result%state, '"}'
        close (unit)

        open (newunit=unit, file=trim(directory) // "/phases-app.csv", status="replace", action="write")
        write (unit, '(a)') "iteration,rank,begin_ns,visible_ns,blocked_ns,compute_ns,bytes"
        do phase = 1, n
            do r = 1, d%ranks
                write (unit, '(*(i0,:,","))') phase - 1, r - 1, all_records(1:2, phase, r), 0, all_records(3:4, phase, r)
            end do
        end do
        close (unit)
        if (output == "halcyon") return
        open (newunit=unit, file=trim(directory) // "/run.json", status="replace", action="write")
        write (unit, '(3a,2(a,i0),a,*(i0,:,", "))', advance="no") '{"format": 1, "approach": "', trim(output), &
            '", "simulation": "cloud"', ', "ranks": ', d%ranks, ', "nodes": ', size(node_sizes), &
            ', "clients_per_node": [', node_sizes
        write (unit, '(7(a,i0),2(a,es21.14),a)') '], "dedicated_cores": 0, "started_ns": ', started_ns, &
            ', "ended_ns": ', ended_ns, ', "parameters": {"nx": ', nx, ', "ny": ', ny, ', "nz": ', nz, &
            ', "px": ', d%px, ', "py": ', d%py, '}, "writers": ["app"], "compute_s": ', compute_s, ', "run_s": ', run_s, '}'
        close (unit)
    end subroutine
end module
