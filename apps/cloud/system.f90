!> The few things only the operating system knows: the clock, directories, and when a file is on its device.
module system
    use, intrinsic :: iso_c_binding
    use grid, only: fail
    implicit none
    private
    public :: now_ns, make_directories, sync_file

    type, bind(c) :: timespec
        integer(c_long) :: seconds, nanoseconds
    end type

    interface
        integer(c_int) function c_clock_gettime(clock, time) bind(c, name="clock_gettime")
            import
            integer(c_int), value :: clock
            type(timespec), intent(out) :: time
        end function
        integer(c_int) function c_mkdir(path, mode) bind(c, name="mkdir")
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: mode
        end function
        type(c_ptr) function c_fopen(path, mode) bind(c, name="fopen")
            import
            character(kind=c_char), intent(in) :: path(*), mode(*)
        end function
        integer(c_int) function c_fileno(file) bind(c, name="fileno")
            import
            type(c_ptr), value :: file
        end function
        integer(c_int) function c_fsync(descriptor) bind(c, name="fsync")
            import
            integer(c_int), value :: descriptor
        end function
        integer(c_int) function c_fclose(file) bind(c, name="fclose")
            import
            type(c_ptr), value :: file
        end function
    end interface

contains

    !> CLOCK_REALTIME.
    integer(c_int64_t) function now_ns()
        type(timespec) :: time

        if (c_clock_gettime(0_c_int, time) /= 0) call fail("the system has no clock")
        now_ns = int(time%seconds, c_int64_t) * 1000000000 + time%nanoseconds
    end function

    !> Creates the directory and those above it; one that exists is fine, one that cannot be made shows when used.
    subroutine make_directories(path)
        character(*), intent(in) :: path
        integer :: i, ignored

        do i = 2, len_trim(path)
            if (path(i:i) == "/" .or. i == len_trim(path)) ignored = c_mkdir(path(:i) // c_null_char, int(o'777', c_int))
        end do
    end subroutine

    !> Returns when what this machine wrote into the closed file has reached its device.
    subroutine sync_file(path)
        character(*), intent(in) :: path
        type(c_ptr) :: file

        file = c_fopen(path // c_null_char, "r" // c_null_char)
        if (.not. c_associated(file)) call fail("cannot sync '" // path // "'")
        if (c_fsync(c_fileno(file)) /= 0) call fail("cannot sync '" // path // "'")
        if (c_fclose(file) /= 0) call fail("cannot sync '" // path // "'")
    end subroutine
end module
