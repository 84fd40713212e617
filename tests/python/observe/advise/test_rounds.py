"""What won is recommended, and nothing else."""

from pathlib import Path

from observe.advise.conftest import Modelled, Seconds

from halcyon.observe.advise.library import Library
from halcyon.observe.advise.rounds import Results, run_rounds
from halcyon.observe.advise.settings import Setting
from halcyon.observe.advise.trial import Trial
from halcyon.observe.advise.verdict import Verdict

OFF = (Setting("romio_ds_write", "disable"),)
LONG = (Setting("ind_wr_buffer_size", "4194304"),)


def results(tmp_path: Path, seconds: Seconds, rounds: int = 10, **how: bool) -> tuple[Results, Modelled]:
    launch = Modelled(seconds)
    return run_rounds(launch, [OFF, LONG], Library(), rounds, tmp_path, **how), launch


def helps(hints: dict[str, str]) -> float:
    return 0.5 if hints.get("romio_ds_write") == "disable" else 1.0


def test_only_what_won_is_recommended(tmp_path: Path) -> None:
    found, _ = results(tmp_path, helps)
    assert [one.variant.settings for one in found.recommended()] == [OFF]
    assert found.results[1].verdict is Verdict.SAME
    assert found.steady


def test_what_harms_is_not_recommended(tmp_path: Path) -> None:
    found, _ = results(tmp_path, lambda hints: 1 / helps(hints))
    assert found.recommended() == []
    assert found.results[0].verdict is Verdict.WORSE


def test_too_few_rounds_recommend_nothing(tmp_path: Path) -> None:
    found, _ = results(tmp_path, helps, rounds=3)
    assert found.recommended() == []
    assert found.results[0].verdict is Verdict.UNKNOWN


def test_each_round_has_an_order_of_its_own(tmp_path: Path) -> None:
    _, launch = results(tmp_path, helps)
    order = [tuple(hints) for hints in launch.order]  # type: ignore[attr-defined]
    rounds = [tuple(order[at : at + 4]) for at in range(0, len(order), 4)]
    assert all(sorted(one) == sorted(rounds[0]) for one in rounds)
    assert len(set(rounds)) > 2


def test_a_hint_that_did_not_take_effect_is_told(tmp_path: Path) -> None:
    class Deaf(Modelled):
        def run(self, folder: Path, settings: object, *, keep: bool = False, prepare: object = None) -> Trial:
            return super().run(folder, {})

    found = run_rounds(Deaf(helps), [OFF], Library(), 8, tmp_path)
    assert found.results[0].doubt == "romio_ds_write=disable did not take effect: MPI-IO says automatic"
    assert found.recommended() == []


def test_a_run_that_fails_is_never_taken_for_fast(tmp_path: Path) -> None:
    class Failing(Modelled):
        def run(self, folder: Path, settings: object, *, keep: bool = False, prepare: object = None) -> Trial:
            good = super().run(folder, settings)  # type: ignore[arg-type]
            return Trial(0.001, None, "ended with exit code 1") if settings else good

    found = run_rounds(Failing(lambda _: 1.0), [OFF], Library(), 8, tmp_path)
    assert found.recommended() == []
    assert found.results[0].verdict is None
    assert found.results[0].doubt == "no run of it came to its end in order"


def test_less_work_is_no_gain(tmp_path: Path) -> None:
    class Lazy(Modelled):
        def run(self, folder: Path, settings: object, *, keep: bool = False, prepare: object = None) -> Trial:
            good = super().run(folder, settings)  # type: ignore[arg-type]
            assert good.mpiio is not None
            object.__setattr__(good.mpiio, "bytes", 7 if settings else 8)
            return good

    found = run_rounds(Lazy(helps), [OFF], Library(), 8, tmp_path)
    assert found.recommended() == []
    assert "moved 7 bytes" in (found.results[0].doubt or "")


def test_on_an_unsteady_machine_a_gain_has_to_exceed_chance(tmp_path: Path) -> None:
    class Unsteady(Modelled):
        """What stands second in the folders' numbering, the control, is slower by itself."""

        def run(self, folder: Path, settings: object, *, keep: bool = False, prepare: object = None) -> Trial:
            good = super().run(folder, settings)  # type: ignore[arg-type]
            return (
                Trial(good.wall_s * 3, good.mpiio and type(good.mpiio)(3.0, 1, 10**9, {}))
                if folder.name.endswith("-1")
                else good
            )

    found = run_rounds(Unsteady(helps), [OFF], Library(), 8, tmp_path)
    assert not found.steady
    assert found.results[0].verdict is Verdict.BETTER
    assert found.recommended() == []


def test_wall_time_is_compared_on_demand(tmp_path: Path) -> None:
    found, _ = results(tmp_path, helps, by_wall=True)
    assert found.compared == "wall time"
    compared = found.results[0].compared
    assert compared is not None
    assert 0.7 < compared.median < 0.8


def test_an_interrupt_keeps_the_rounds_that_were_complete(tmp_path: Path) -> None:
    class Interrupted(Modelled):
        def run(self, folder: Path, settings: object, *, keep: bool = False, prepare: object = None) -> Trial:
            if len(self.order) == 4 * 7 + 2:  # type: ignore[attr-defined]
                raise KeyboardInterrupt
            return super().run(folder, settings)  # type: ignore[arg-type]

    found = run_rounds(Interrupted(helps), [OFF, LONG], Library(), 10, tmp_path)
    assert found.interrupted
    assert (found.rounds, found.wanted) == (7, 10)
    assert [one.variant.settings for one in found.recommended()] == [OFF]
