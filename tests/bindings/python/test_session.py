import gc
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from conftest import ELEMENTS, Recording
from mpi4py import MPI

from halcyon.client import ExpectedAccess, Forecast, Session, Stats, accesses_within, next_accesses
from halcyon.errors import BY_CODE, ConfigError, HalcyonSystemError, UnavailableError, UsageError


@pytest.fixture
def session(recording: Recording) -> Iterator[Session]:
    recording.declare("theta", "float32", (2, 3))
    with Session("recorded.yaml", MPI.COMM_SELF) as session:
        yield session


@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("rank", range(8))
def test_every_dtype_and_rank_is_handed_over_as_it_lies(
    session: Session, recording: Recording, dtype: str, rank: int
) -> None:
    shape = (2, 3, 1, 2, 3, 2, 2)[:rank]
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    recording.declare("v", dtype, shape)
    session.write("v", array)
    assert recording.data(array.nbytes) == array.tobytes()
    assert recording.address == array.ctypes.data


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[1:3, 1:4],
        lambda a: a[::2, :],
        lambda a: a[::-1, ::-1],
        lambda a: np.asfortranarray(a),
        lambda a: a.T,
        lambda a: np.broadcast_to(a[0], (4, 5)),
    ],
)
def test_what_is_not_contiguous_arrives_in_c_order(
    session: Session, recording: Recording, view: Callable[[np.ndarray], np.ndarray]
) -> None:
    array = view(np.arange(20, dtype=np.int16).reshape(4, 5))
    recording.declare("v", "int16", array.shape)
    session.write("v", array)
    assert recording.data(array.nbytes) == array.tobytes(order="C")


def test_a_read_only_array_and_a_number_can_be_written(session: Session, recording: Recording) -> None:
    array = np.ones((2, 3), np.float32)
    array.flags.writeable = False
    session.write("theta", array)
    recording.declare("time", "float64", ())
    session.write("time", 0.25)
    recording.declare("nothing", "int32", (0, 5))
    session.write("nothing", np.empty((0, 5), np.int32))
    assert recording.calls[-3:] == ["write theta 0 24", "write time 0 8", "write nothing 0 0"]


def test_axes_of_length_one_do_not_count_and_flat_arrays_fit(session: Session, recording: Recording) -> None:
    session.write("theta", np.zeros((1, 2, 1, 3), np.float32))
    session.write("theta", np.zeros(6, np.float32), 1)
    assert recording.calls[-2:] == ["write theta 0 24", "write theta 1 24"]


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.zeros((2, 3)), r"is float32 in the configuration, the array is float64: .*astype\('float32'\)"),
        (np.zeros((2, 3), ">f4"), r"the array is >f4"),
        (np.zeros((2, 3), np.int32), r"the array is int32"),
        (np.zeros((3, 2), np.float32), r"a block has shape \(2, 3\), the array has \(3, 2\)"),
        (np.zeros(5, np.float32), r"the array has \(5,\)"),
    ],
)
def test_an_array_that_is_not_the_variables_is_refused(
    session: Session, recording: Recording, array: np.ndarray, why: str
) -> None:
    before = recording.calls
    with pytest.raises(UsageError, match=why):
        session.write("theta", array)
    assert recording.calls == before


def test_an_allocated_block_turns_read_only_with_commit(session: Session, recording: Recording) -> None:
    theta = session.alloc("theta", 1)
    assert theta.shape == (2, 3)
    assert theta.dtype == np.float32
    theta[...] = np.arange(6).reshape(2, 3)
    session.commit("theta", 1)
    assert recording.address == theta.ctypes.data
    assert recording.data(24) == np.arange(6, dtype=np.float32).tobytes()
    with pytest.raises(ValueError, match="read-only"):
        theta[0, 0] = 7
    session.clear("theta", 1)
    assert recording.calls[-3:] == ["alloc theta 1", "commit theta 1", "clear theta 1"]


@pytest.mark.parametrize("cleared", [False, True])
def test_close_warns_of_arrays_that_are_still_alive(recording: Recording, cleared: bool) -> None:
    recording.declare("theta", "float32", (2, 3))
    session = Session("recorded.yaml", MPI.COMM_SELF)
    row = session.alloc("theta")[1]  # a view keeps the array alive
    session.commit("theta")
    if cleared:
        session.clear("theta")
    with pytest.warns(RuntimeWarning, match="still referenced at close: theta"):
        session.close()
    assert row.shape == (3,)


def test_close_does_not_warn_of_arrays_that_are_gone(recording: Recording) -> None:
    recording.declare("theta", "float32", (2, 3))
    session = Session("recorded.yaml", MPI.COMM_SELF)
    theta = session.alloc("theta")
    session.commit("theta")
    session.clear("theta")
    del theta
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.close()


def test_arguments_are_passed_on(recording: Recording) -> None:
    with Session("recorded.yaml", parameters={"nx": 64}) as session:
        session.set_parameter("ny", 0.5)
        assert session.get_parameter("kappa") == 0.3125
        session.signal("schnappschuß")
        session.end_iteration()
        session.wait(0, "durable")
        stats = session.stats()
    assert recording.calls == [
        "set_parameter next nx 64",
        "open recorded.yaml 1",
        "set_parameter open ny 0.5",
        "get_parameter kappa",
        "signal schnappschuß",
        "end_iteration 0",
        "wait 0 2",
        "close",
    ]
    assert stats == Stats(1, 0, 0, 1, *range(105, 116))


def test_an_unknown_stage_is_refused(session: Session) -> None:
    with pytest.raises(UsageError, match="accepted, stored, durable"):
        session.wait(0, "saved")  # type: ignore[arg-type]


@pytest.mark.parametrize("code", BY_CODE)
def test_a_failure_raises_the_error_of_its_kind(session: Session, recording: Recording, code: int) -> None:
    recording.fail_next(code, "it did not work")
    with pytest.raises(BY_CODE[code], match=r"^it did not work$") as raised:
        session.end_iteration()
    assert type(raised.value) is BY_CODE[code]


def test_errors_are_built_in_errors_too(recording: Recording) -> None:
    pairs = ((ConfigError, ValueError), (HalcyonSystemError, OSError), (UnavailableError, ConnectionError))
    for ours, builtin in pairs:
        recording.fail_next(ours.code, "recorded.yaml:3: no layout 'grid3d'")
        with pytest.raises(builtin, match="no layout 'grid3d'"):
            Session("recorded.yaml", MPI.COMM_SELF)


def test_an_exception_closes_the_session_of_a_lone_rank(recording: Recording) -> None:
    with pytest.raises(ZeroDivisionError), Session("recorded.yaml", MPI.COMM_SELF):
        _ = 1 / 0
    assert recording.calls[-1] == "close"


class PairOfRanks:
    """A communicator with another rank in it, which is not there to close."""

    def Get_size(self) -> int:  # noqa: N802 - mpi4py's name
        return 2

    def py2f(self) -> int:
        return MPI.COMM_SELF.py2f()


def test_an_exception_on_one_of_several_ranks_does_not_close(recording: Recording) -> None:
    with pytest.raises(ZeroDivisionError), Session("recorded.yaml", PairOfRanks()):
        _ = 1 / 0
    assert recording.calls == ["open recorded.yaml 1"]


def test_a_forecast_has_as_many_accesses_as_are_known(recording: Recording) -> None:
    opened = ExpectedAccess("open", "/out/u.000042", True, None, None, 5.5, 6.5, 7.5, 0.125, 8)
    synced = ExpectedAccess("sync", None, False, 6_000_000_000, 9, 0, 0, 0, 0, 0)
    assert next_accesses(5) == Forecast(
        accesses=[opened, synced],
        complete=True,
        threads=101,
        threads_left_out=102,
        phase_calls_done=103,
        phase_calls_left=104,
        phase_bytes_left=5_000_000_000,
        phase_time_left_s=0.5,
        phase_confidence=0.25,
        next_phase_s=1.5,
        next_phase_deviation_s=2.5,
        next_phase_confidence=0.75,
        next_phase_earliest_s=0.875,
        next_phase_latest_s=2.25,
        rest_buffer_bytes=105,
        phase_buffer_bytes=106,
        flush_in_s=3.5,
        flush_for_s=4.5,
    )
    assert accesses_within(0.5, most=1).accesses == [opened]
    assert recording.calls == ["forecast process 5", "forecast_window process 0.5 1"]


def test_a_process_without_forecasts_says_how_to_have_them(recording: Recording) -> None:
    recording.fail_next(4, "start the program by `halcyon run --predict -- PROGRAM`")
    with pytest.raises(UnavailableError, match="halcyon run --predict"):
        next_accesses(1)
