! Formatted, unformatted, direct and stream files. Usage: forms, in a directory of its own
program forms
  implicit none
  real(8) :: values(1000), back(1000)
  integer :: i
  values = [(real(i, 8), i = 1, 1000)]
  open (10, file='formatted', form='formatted', status='replace')
  write (10, '(10f12.3)') values
  rewind (10)
  read (10, *) back(1:10)
  close (10)
  open (11, file='unformatted', form='unformatted', status='replace')
  do i = 1, 20
    write (11) values
  end do
  backspace (11)
  read (11) back
  close (11)
  open (12, file='direct', form='unformatted', access='direct', recl=8000, status='replace')
  do i = 10, 1, -1
    write (12, rec=i) values
  end do
  read (12, rec=5) back
  close (12)
  open (13, file='stream', form='unformatted', access='stream', status='replace')
  write (13) values
  write (13, pos=801) values(1:10)
  inquire (13, size=i)
  read (13, pos=1) back
  close (13)
end program forms
