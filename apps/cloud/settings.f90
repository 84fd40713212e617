!> What a run can be told: a namelist file and key=value words of the command line, later ones winning.
module settings
    use grid
    implicit none
    public
    private :: apply

    integer :: nx = 64, ny = 64, nz = 40, px = 0, py = 0, steps = 600, output_every = 20, acoustic = 4, gzip = 0
    real(wp) :: dx = 1000, dy = 1000, dz = 500, dt = 6
    real(wp) :: bubble_k = 4, bubble_x = 0.5_wp, bubble_y = 0.5_wp, bubble_z = 1500, bubble_radius = 12000, &
                bubble_depth = 2500
    real(wp) :: u_frame = 0, v_frame = 0, rh_max = 0.95_wp, sponge_depth = 5000, sponge_rate = 0.05_wp
    logical :: wind = .true., sync = .true.
    character(256) :: sounding = "soundings/20110522_OUN_12Z.txt", output = "file-per-process", directory = "out", &
                      halcyon_config = "cloud.yaml"
    namelist /cloud/ nx, ny, nz, px, py, steps, output_every, acoustic, gzip, dx, dy, dz, dt, bubble_k, bubble_x, bubble_y, &
        bubble_z, bubble_radius, bubble_depth, u_frame, v_frame, rh_max, sponge_depth, sponge_rate, wind, sync, &
        sounding, output, directory, halcyon_config

contains

    subroutine read_settings()
        character(512) :: word, message
        integer :: i, unit, status, equals

        i = 1
        do while (i <= command_argument_count())
            call get_command_argument(i, word)
            equals = index(word, "=")
            if (word == "--namelist") then
                i = i + 1
                call get_command_argument(i, word)
                open (newunit=unit, file=word, status="old", action="read", iostat=status, iomsg=message)
                if (status == 0) read (unit, nml=cloud, iostat=status, iomsg=message)
                if (status /= 0) call fail("namelist file '" // trim(word) // "': " // message)
                close (unit)
            else if (equals > 1) then
                call apply(word(:equals - 1), trim(word(equals + 1:)))
            else
                call fail("unknown word '" // trim(word) // "'; usage: cloud [--namelist FILE] [key=value …], e.g. nx=64 " // &
                          "output=halcyon; apps/cloud/README.md lists the keys")
            end if
            i = i + 1
        end do
        if (min(nx, ny, nz, steps, output_every, acoustic) < 1 .or. min(dx, dy, dz, dt) <= 0) &
            call fail("nx, ny, nz, dx, dy, dz, dt, steps, output_every and acoustic must be positive")
        if (gzip < 0 .or. gzip > 9) call fail("gzip must be 0 (none) to 9")
        if (all(output /= [character(16) :: "file-per-process", "collective", "halcyon", "memory", "none"])) &
            call fail("output='" // trim(output) // "': expected file-per-process, collective, halcyon, memory or none")
    end subroutine

    !> One key=value through the namelist's own reader, which knows names and types.
    subroutine apply(key, text)
        character(*), intent(in) :: key, text
        character(600) :: lines(1), message
        integer :: status

        lines(1) = "&cloud " // key // "=" // text // " /"
        if (any(key == [character(14) :: "sounding", "output", "directory", "halcyon_config"])) &
            lines(1) = "&cloud " // key // "='" // text // "' /"
        read (lines, nml=cloud, iostat=status, iomsg=message)
        if (status /= 0) call fail("'" // key // "=" // text // "': " // message)
    end subroutine
end module
