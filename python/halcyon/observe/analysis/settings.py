"""What the analyses and findings take for large, small, long and slow: one place, each number with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Thresholds. Shares are between 0 and 1, times in seconds unless the name says otherwise."""

    exact_calls: int = 4_000_000
    """Up to so many calls, times are merged to the nanosecond; above, to `time_bins` steps of the run. Sorting this
    many intervals takes about a second."""
    time_bins: int = 1 << 20
    """Steps into which a long run is cut: an hour in steps of 3.4 ms, shorter than any pause between I/O phases."""
    moment_groups: int = 10_000_000
    """Rows of the intermediate table of times per file, at most: a few hundred megabytes. Where the steps above would
    make more, times per file are merged in longer steps."""
    concurrency_bins: int = 1000
    """Of the picture of concurrent calls: about one per pixel."""
    activity_bins: int = 240
    """Of the picture of each server's load over time."""

    smallest_gap_share: float = 1e-4
    """Of the run: pauses below it never separate two I/O phases, or calls of one burst would each be a phase."""
    smallest_gap_s: float = 0.01
    """Nor do pauses below this: a few requests to a disk take as long."""
    gap_jump: float = 3.0
    """Pauses separate phases when the next longer pause is at least so many times as long: pauses within bursts and
    between them differ by orders of magnitude, pauses of one sort by less than this."""
    clear_jump: float = 10.0
    """A jump of this factor is clear: the lowest one is taken, whatever longer pauses (the start of the run)
    there are.
    """
    minor_share: float = 0.01
    """Bursts that together hold less than this share of the bytes and of the time (log lines) are no phases."""
    phase_share: float = 0.01
    """Phases with less than this share of the largest phase's bytes take no part in statements on variability."""

    slow_factor: float = 1.5
    """A rank is slow in a phase when it takes so many times the median: below, it is within the usual scatter."""
    slow_deviations: float = 3.0
    """And when it is so many (scaled) median absolute deviations above the median: in phases that scatter widely
    anyway, no
    rank stands out."""
    slow_share: float = 0.5
    """A straggler is slow in at least this share of the phases it took part in …"""
    slow_phases: int = 3
    """… and in at least so many: twice can be chance."""

    pattern_share: float = 0.8
    """Accesses of a process to a file are called consecutive, strided or forward when this share of them is."""
    small_bytes: int = 65536
    """Transfers below it are small: at 1 ms latency to a server they stay below 66 MB/s, however fast its disks."""
    large_calls: int = 10
    """So many large transfers (512 KiB and more) of a run tell what its small ones could reach."""
    examined_calls: int = 1_000_000
    """Questions that need the order of calls (read again, read before write) look at most at so many calls, and say
    how many there were."""

    worth_seconds: float = 0.01
    """Findings that cost less than this much time of a process are not worth a line …"""
    worth_share: float = 0.02
    """… nor those that cost less than this share of the run's I/O time."""
    worth_run_share: float = 0.001
    """… nor those that cost less than this share of the run (of all processes' time)."""
    grave_share: float = 0.25
    """A finding that costs this share of the I/O time is of high severity; a quarter of it, of medium …"""
    grave_run_share: float = 0.05
    """… if it costs this share of the run, too: who hardly does any I/O has graver things to mend."""
    grave_seconds: float = 1.0
    """And if it costs this much time, in sum over processes: below, it is of low severity, whatever its shares. Who
    waits a second less for a whole run has gained nothing worth a change."""
    many_calls: int = 100
    """Fewer calls than this make no pattern."""
    small_share: float = 0.5
    """Small transfers are a finding when they are this share of the transfers of their kind."""
    unaligned_share: float = 0.5
    """Misaligned transfers are a finding when they are this share."""
    sieving_share: float = 0.1
    """Reads made inside write calls are a finding when they take this share of these calls' time."""
    sieving_reads: int = 10
    """And when there are so many: a few may be headers."""
    call_s: float = 5e-6
    """What a write of a few bytes takes when it is a call of its own, on a local file system that caches it. Over a
    network it is more."""
    metadata_share: float = 0.2
    """Opens, stats and the like are a finding when they take this share of the I/O time …"""
    metadata_per_data: float = 1.0
    """… and there are more of them than transfers."""
    sync_share: float = 0.2
    """Syncs are a finding when they take this share of the time of writes and syncs."""
    sync_calls: int = 10
    """And when there are so many of them …"""
    syncs_per_write: float = 0.1
    """… and so many for each write: a sync at the end of a checkpoint is what it should be."""
    one_rank_share: float = 0.9
    """One rank is a bottleneck when it moves this share of the bytes of a run of several ranks."""
    server_factor: float = 2.0
    """A server is slow when its bandwidth per call is below the others' median by this factor; a lone retry or a
    cache hit stays below it."""
    server_calls: int = 30
    """And when it has served so many calls alone: fewer say nothing about a server. Nor do fewer aligned transfers say
    what misaligned ones should take."""
    again_share: float = 0.2
    """Bytes read again are a finding when they are this share of all bytes read."""
    waiting_share: float = 0.3
    """Waiting for the last rank is a finding when it takes this share of collective calls: some scatter of ranks is
    everywhere."""
    exchange_share: float = 0.6
    """So is the exchange between ranks and aggregators: below, moving the data takes about as long."""
    overlap: float = 1.5
    """Ranks' accesses to a shared file are interleaved when their extents add up to so many times the file's own. Two
    ranks that take turns reach 2 less a piece."""
    own_share: float = 0.6
    """Time of MPI-IO's own, in no call below, is a finding when it takes this share of reads or writes."""
    setup_share: float = 0.5
    """Opening files together and setting views are a finding when they take this share of MPI-IO's time …"""
    setup_calls: int = 10
    """… and there are so many for each rank, or one takes `grave_seconds`."""
    random_steps: float = 0.2
    """Accesses are random when this share of the steps between them leads back, as large a share forward …"""
    random_share: float = 0.5
    """… and this share of the steps has a length that is rare: reading in several streams repeats a few lengths."""
