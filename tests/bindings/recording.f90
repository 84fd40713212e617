!> The recording client, seen from Fortran tests.
module recording
    use, intrinsic :: iso_c_binding
    implicit none

    !> The element types of halcyon.h.
    integer(c_int), parameter :: element_int8 = 0, element_int16 = 1, element_int32 = 2, element_int64 = 3, &
                                 element_uint32 = 6, element_real32 = 8, element_real64 = 9
    integer :: failures = 0

    interface
        subroutine recording_declare(variable, element, rank, dimensions) bind(c)
            import
            character(kind=c_char), intent(in) :: variable(*)
            integer(c_int), value :: element, rank
            integer(c_int64_t), intent(in) :: dimensions(*)
        end subroutine
        subroutine recording_reset() bind(c)
        end subroutine
        subroutine recording_fail_next(code, message) bind(c)
            import
            integer(c_int), value :: code
            character(kind=c_char), intent(in) :: message(*)
        end subroutine
        type(c_ptr) function recording_calls() bind(c)
            import
        end function
        type(c_ptr) function recording_data() bind(c)
            import
        end function
        type(c_ptr) function recording_address() bind(c)
            import
        end function
        integer(c_size_t) function strlen(text) bind(c)
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Declares variable "v" with a Fortran shape.
    subroutine declare(element, fortran_shape)
        integer(c_int), intent(in) :: element
        integer, intent(in) :: fortran_shape(:)
        integer :: n

        n = size(fortran_shape)
        call recording_declare("v"//c_null_char, element, int(n, c_int), int(fortran_shape(n:1:-1), c_int64_t))
    end subroutine

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (holds) return
        failures = failures + 1
        print '(2a)', "does not hold: ", what
    end subroutine

    !> The data last written or committed lay at this address: nobody copied it on the way.
    logical function came_from(address)
        type(c_ptr), intent(in) :: address
        type(c_ptr) :: seen

        seen = recording_address()
        came_from = c_associated(seen, address)
    end function

    function calls() result(text)
        character(:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: i

        allocate (character(len=strlen(recording_calls())) :: text)
        call c_f_pointer(recording_calls(), bytes, [len(text)])
        do i = 1, len(text)
            text(i:i) = bytes(i)
        end do
    end function

    !> Ends the test program: failed if a check did not hold.
    subroutine finish()
        if (failures > 0) error stop 1
    end subroutine
end module
