!> Each call arrives with its arguments; communicators are integers or type(MPI_Comm).
program fortran_calls
    use, intrinsic :: iso_fortran_env
#ifdef HALCYON_MPI_F08
    use mpi_f08
#else
    use mpi
#endif
    use halcyon
    use recording
    implicit none
    character, parameter :: nl = new_line("a")
    type(halcyon_session) :: h
    type(halcyon_stats_t) :: counts
    type(halcyon_expected_access) :: next(3)
    type(halcyon_forecast_t) :: whole, window
    real(real64), pointer :: block_2(:)
    real(real64) :: kappa
    real(real32) :: tau

    call MPI_Init()
    call recording_declare("group/θ"//c_null_char, element_real64, 1_c_int, [3_c_int64_t])
    call halcyon_set_parameter(h, "nx", 64)
    call halcyon_set_parameter(h, "ny", 65_int64)
    call halcyon_set_parameter(h, "dt", 0.5_real64)
    call halcyon_set_parameter(h, "cfl", 0.75)
    call halcyon_open("a configuration.yaml ", MPI_COMM_WORLD, h)
    call halcyon_set_parameter(h, "nx", 32)
    call halcyon_get_parameter(h, "kappa ", kappa)
    call halcyon_get_parameter(h, "tau", tau)
    call halcyon_write(h, "group/θ", [1.0_real64, 2.0_real64, 3.0_real64])
    call halcyon_write(h, "group/θ", [1.0_real64, 2.0_real64, 3.0_real64], 1)
    call halcyon_alloc(h, "group/θ", block_2, block=2)
    block_2 = 0
    call halcyon_commit(h, "group/θ", 2)
    call halcyon_clear(h, "group/θ", 2)
    call halcyon_signal(h, "snapshot")
    call halcyon_end_iteration(h)
    call halcyon_wait(h, 0, HALCYON_STORED)
    call halcyon_wait(h, 5000000000_int64, HALCYON_DURABLE)
    call halcyon_stats(h, counts)
    call halcyon_forecast(next, whole)
    call halcyon_forecast_window(0.5_real64, next(1:1), window)
    call halcyon_close(h)
    call MPI_Finalize()

    call check(calls() == "set_parameter next nx 64"//nl//"set_parameter next ny 65"//nl//"set_parameter next dt 0.5"//nl// &
               "set_parameter next cfl 0.75"//nl// &
               "open a configuration.yaml 1"//nl//"set_parameter open nx 32"//nl//"get_parameter kappa"//nl// &
               "get_parameter tau"//nl//"write group/θ 0 24"//nl// &
               "write group/θ 1 24"//nl//"alloc group/θ 2"//nl//"commit group/θ 2"//nl//"clear group/θ 2"//nl// &
               "signal snapshot"//nl//"end_iteration 0"//nl//"wait 0 1"//nl//"wait 5000000000 2"//nl// &
               "forecast process 3"//nl//"forecast_window process 0.5 1"//nl//"close"//nl, &
               "the calls are these, not: "//nl//calls())
    call check(kappa == 0.3125_real64 .and. tau == 0.3125_real32, "the value of a parameter arrives in either kind")
    call check(all([counts%iteration, counts%blocks, counts%bytes, counts%signals, counts%visible_ns, counts%blocked_ns, &
                    counts%skipped_blocks, counts%skipped_bytes, counts%spilled_blocks, counts%spilled_bytes, &
                    counts%inlined_blocks, counts%inlined_bytes, counts%server_restarts, counts%arena_bytes, &
                    counts%arena_free_bytes] == &
                   [1_int64, 3_int64, 72_int64, 1_int64, 105_int64, 106_int64, 107_int64, 108_int64, 109_int64, &
                    110_int64, 111_int64, 112_int64, 113_int64, 114_int64, 115_int64]), "each count is its own")
    call check(whole%count == 2 .and. window%count == 1 .and. whole%complete, "as many accesses as are known")
    call check(all([int(whole%threads, int64), int(whole%threads_left_out, int64), whole%phase_calls_done, &
                    whole%phase_calls_left, whole%phase_bytes_left, whole%rest_buffer_bytes, whole%phase_buffer_bytes] == &
                   [101_int64, 102_int64, 103_int64, 104_int64, 5000000000_int64, 105_int64, 106_int64]), &
               "each count of a forecast is its own")
    call check(all([whole%phase_time_left_s, whole%phase_confidence, whole%next_phase_s, whole%next_phase_deviation_s, &
                    whole%next_phase_confidence, whole%next_phase_earliest_s, whole%next_phase_latest_s, &
                    whole%flush_in_s, whole%flush_for_s] == &
                   [0.5_real64, 0.25_real64, 1.5_real64, 2.5_real64, 0.75_real64, 0.875_real64, 2.25_real64, &
                    3.5_real64, 4.5_real64]), &
               "each time of a forecast is its own")
    call check(next(1)%operation == HALCYON_ACCESS_OPEN .and. next(1)%new_file .and. next(1)%offset == -1 .and. &
               next(1)%bytes == -1 .and. next(1)%thread == 8 .and. next(1)%path == "/out/u.000042" .and. &
               all([next(1)%begins_s, next(1)%deviation_s, next(1)%duration_s, next(1)%probability] == &
                   [5.5_real64, 6.5_real64, 7.5_real64, 0.125_real64]), "an access has all its members")
    call check(next(2)%operation == HALCYON_ACCESS_SYNC .and. .not. next(2)%new_file .and. &
               next(2)%offset == 6000000000_int64 .and. next(2)%bytes == 9 .and. next(2)%path == "", &
               "a path that is not known is blank")
    call check(halcyon_version() == "0.1.0 (recording)", "the version is the library's")
    call finish()
end program
