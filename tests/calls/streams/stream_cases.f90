! Units of Fortran, as programs use them. Usage: stream_cases <directory>; prints what came of it.
program stream_cases
    implicit none
    character(len=4000) :: directory
    call get_command_argument(1, directory)
    call sequential
    call direct
    call streamed
    call appended
    call unformatted
    call preconnected

contains

    function path(name) result(whole)
        character(len=*), intent(in) :: name
        character(len=4000) :: whole
        whole = trim(directory)//'/'//name
    end function path

    subroutine tell(name)
        character(len=*), intent(in) :: name
        integer :: bytes, sum, at, unit
        character :: one
        inquire (file=trim(path(name)), size=bytes)
        open (newunit=unit, file=trim(path(name)), access='stream', form='unformatted', action='read')
        sum = 0
        do at = 1, bytes
            read (unit, pos=at) one
            sum = mod(sum*31 + ichar(one), 1000003)
        end do
        close (unit)
        print '(a,2(1x,i0))', name, bytes, sum
    end subroutine tell

    subroutine sequential
        integer :: unit, i, value, status
        character(len=40) :: line
        open (newunit=unit, file=trim(path('sequential')), status='new', action='readwrite')
        do i = 1, 500
            write (unit, '(a,i0)') 'line ', i
        end do
        backspace (unit)
        read (unit, '(a)') line
        print '(a)', trim(line)
        backspace (unit)
        backspace (unit)
        write (unit, '(a)') 'in its place'
        endfile (unit)
        rewind (unit)
        do i = 1, 3
            read (unit, '(5x,i10)') value
            print '(i0)', value
        end do
        status = 0
        do while (status == 0)
            read (unit, '(a)', iostat=status) line
        end do
        print '(l1)', is_iostat_end(status)
        close (unit)
        call tell('sequential')
    end subroutine sequential

    subroutine direct
        integer :: unit, i, values(8)
        open (newunit=unit, file=trim(path('direct')), access='direct', recl=32, form='unformatted')
        do i = 100, 1, -1
            values = i
            write (unit, rec=i) values
        end do
        read (unit, rec=37) values
        print '(8(i0,1x))', values
        close (unit)
        call tell('direct')
    end subroutine direct

    subroutine streamed
        integer :: unit, at
        real(8) :: value
        open (newunit=unit, file=trim(path('stream')), access='stream', form='unformatted')
        do at = 1, 1000
            write (unit) real(at, 8)
        end do
        read (unit, pos=81) value
        inquire (unit, pos=at)
        print '(f6.1,1x,i0)', value, at
        write (unit, pos=9) 0.5d0
        flush (unit)
        close (unit)
        call tell('stream')
    end subroutine streamed

    subroutine appended
        integer :: unit, i
        logical :: gone
        do i = 1, 5
            open (newunit=unit, file=trim(path('appended')), position='append', action='write')
            write (unit, *) 'part', i
            close (unit)
        end do
        call tell('appended')
        open (newunit=unit, file=trim(path('appended')), status='old')
        close (unit, status='delete')
        inquire (file=trim(path('appended')), exist=gone)
        print '(l1)', gone
    end subroutine appended

    subroutine unformatted
        integer :: unit, i, length
        real, allocatable :: values(:)
        open (newunit=unit, file=trim(path('unformatted')), form='unformatted')
        do i = 1, 40
            allocate (values(i*100))
            values = i
            write (unit) size(values), values
            deallocate (values)
        end do
        backspace (unit)
        backspace (unit)
        read (unit) length
        print '(i0)', length
        rewind (unit)
        read (unit) length
        print '(i0)', length
        close (unit)
        call tell('unformatted')
    end subroutine unformatted

    subroutine preconnected
        character(len=40) :: line
        integer :: status
        read (*, '(a)', iostat=status) line
        print '(a,1x,a,1x,l1)', 'read', trim(line), status == 0
        write (0, '(a)') 'to standard error'
        write (6, '(a)') 'to standard output'
        flush (6)
    end subroutine preconnected

end program stream_cases
