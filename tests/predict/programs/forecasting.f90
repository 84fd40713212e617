!> Ten steps of a simulation, and the next two asked of the module halcyon: forecasting_f90 FOLDER.
program forecasting
    use, intrinsic :: iso_fortran_env
    use halcyon
    implicit none
    character(5), parameter :: operations(0:5) = ["open ", "close", "read ", "write", "copy ", "sync "]
    type(halcyon_expected_access) :: next(10)
    type(halcyon_forecast_t) :: whole
    character(256) :: folder
    character(9) :: name
    integer(int8) :: values(4096)
    integer :: step, i, unit

    values = 0
    call get_command_argument(1, folder)
    do step = 0, 9
        write (name, '(a, i4.4)') "/out.", step
        open (newunit=unit, file=trim(folder)//name, access="stream", form="unformatted", action="write", status="replace")
        do i = 1, 3
            write (unit) values
            flush (unit)
        end do
        close (unit)
    end do
    call halcyon_forecast(next, whole)
    do i = 1, int(whole%count)
        print '(a, 1x, a, a, 1x, i0, 1x, i0)', trim(operations(next(i)%operation)), &
            next(i)%path(len_trim(folder) + 2:len_trim(next(i)%path)), trim(merge(" new", "    ", next(i)%new_file)), &
            next(i)%offset, next(i)%bytes
    end do
    call halcyon_forecast_window(1e9_real64, next(1:7), whole)
    print '(a, i0)', "within ", whole%count
end program
