!> Sections that are not contiguous arrive packed, in array element order; contiguous ones are not copied.
program fortran_sections
    use, intrinsic :: iso_fortran_env
    use mpi
    use halcyon
    use recording
    implicit none
    type(halcyon_session) :: h
    real(real64), target :: field(0:9, -1:8, 6)
    real(real64), pointer :: view(:, :)
    type(c_ptr) :: plane
    integer :: i, ierr

    field = reshape([(real(i, real64), i=1, size(field))], shape(field))
    call MPI_Init(ierr)
    call halcyon_open("recorded.yaml", MPI_COMM_WORLD, h)

    call written(field(1:8, 0:7, :), "an interior without its halo")
    call written(field(::2, :, ::3), "strides in two dimensions")
    call written(field(9:0:-1, 8:-1:-3, 6:1:-1), "negative strides")
    call written(field(4:4, :, :), "one plane, as rank 3")
    call written(field(:, 3:3, 2:2), "a contiguous line")
    call written(field(5:4, :, :), "nothing")

    call declare(element_real64, [10, 6])
    call halcyon_write(h, "v", field(:, 2, :))
    call matches(reshape(field(:, 2, :), [60]), "a plane across the middle")
    view => field(::3, :, 2)
    call declare(element_real64, shape(view))
    call halcyon_write(h, "v", view)
    call matches(reshape(view, [size(view)]), "a pointer with strides")
    call through_assumed_shape(field(2:9:2, :, 1))

    call declare(element_real64, [10, 10])
    call halcyon_write(h, "v", field(:, :, 3))
    plane = c_loc(field(0, -1, 3))
    call check(came_from(plane), "a contiguous section is not copied")

    call halcyon_close(h)
    call MPI_Finalize(ierr)
    call finish()

contains

    subroutine written(array, what)
        real(real64), intent(in) :: array(:, :, :)
        character(*), intent(in) :: what

        call declare(element_real64, shape(array))
        call halcyon_write(h, "v", array)
        call matches(reshape(array, [size(array)]), what)
    end subroutine

    subroutine through_assumed_shape(array)
        real(real64), intent(in) :: array(:, 0:)

        call declare(element_real64, shape(array))
        call halcyon_write(h, "v", array)
        call matches(reshape(array, [size(array)]), "an assumed-shape dummy with other bounds")
    end subroutine

    subroutine matches(expected, what)
        real(real64), intent(in) :: expected(:)
        character(*), intent(in) :: what
        real(real64), pointer :: seen(:)

        call c_f_pointer(recording_data(), seen, [size(expected)])
        call check(all(seen == expected), what)
    end subroutine
end program
