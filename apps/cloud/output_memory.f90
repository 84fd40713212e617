!> Output that goes nowhere: memcpy within the rank. No way of output that copies can cost a simulation much less.
module output_memory
    use, intrinsic :: iso_c_binding
    use grid
    implicit none
    private
    public :: write_memory

    real(real32), allocatable, target :: copied(:, :, :, :)   ! kept: fresh pages at each phase would cost time

    interface
        type(c_ptr) function memcpy(to, from, bytes) bind(C)
            import c_ptr, c_size_t
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
        end function
    end interface

contains

    !> One output phase; returns the bytes copied.
    function write_memory(shown) result(bytes)
        real(real32), intent(in), contiguous, target :: shown(:, :, :, :)   !< of derive_fields
        integer(int64) :: bytes
        type(c_ptr) :: done

        if (.not. allocated(copied)) allocate (copied, source=shown)
        bytes = size(shown, kind=int64) * 4
        done = memcpy(c_loc(copied), c_loc(shown), int(bytes, c_size_t))
    end function
end module
