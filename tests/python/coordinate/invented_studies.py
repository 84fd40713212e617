"""Invented data of studies: what storage that is shared in proportion would give, with the runs of a point alike. No
machine has measured any of it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from delta_studies import STUDIES, stem
from premises import setup_of

from halcyon.delta.data_file import DataFile
from halcyon.delta.io_time import Phase as IoPhase
from halcyon.delta.runs import Key, Run, Told
from halcyon.models.interference import Phase, delta_graph

S = 10**9


def told(begin_ns: int, seconds: float, moved: int = 1) -> Told:
    return Told(seconds, [IoPhase(begin_ns, seconds, moved)], seconds, 0.0, moved, 1, 0, begin_ns)


def alone(name: str, seconds: float, moved: int = 1) -> Run:
    one = told(0, seconds, moved)
    return Run(Key(alone=name), one if name == "A" else None, one if name == "B" else None, None, None, None, 1.0, 1.0)


def both(policy: str, dt_ns: int, a_s: float, b_s: float) -> Run:
    a, b = told(max(0, -dt_ns), a_s), told(max(0, dt_ns), b_s)
    return Run(Key(policy, dt_ns), a, b, dt_ns / S, 0.95, None, 1.0, 1.0)


def proportional(a: Phase, b: Phase, dts_s: Sequence[float], policies: Sequence[str], repeat: int = 3) -> list[Run]:
    """`dynamic` is the best of waiting, interrupting and sharing for the sum of factors; policies of which the model
    has no curve are as fcfs."""
    curves = delta_graph(a, b, dts_s).curves
    curves["none"] = curves["interfere"]
    ways = ("fcfs", "interrupt", "interfere")
    curves["dynamic"] = [min((curves[way][i] for way in ways), key=lambda one: one.factors) for i in range(len(dts_s))]
    runs = [alone(name, of.alone_s) for name, of in (("A", a), ("B", b)) for _ in range(repeat)]
    for policy in policies:
        for point in curves.get(policy, curves["fcfs"]):
            runs += [both(policy, round(point.delta_s * S), point.a_s, point.b_s)] * repeat
    return runs


def times_s(study: str) -> tuple[float, float]:
    """Alone, such that factors are within the bounds of the pairs of a study."""
    return {"small": (8.0, 1.4), "splits": (8.0, 1.4), "files": (8.0, 2.0), "factors": (8.0, 2.0)}.get(
        study, (8.0, 8.0)
    )


def write_studies(folder: Path, without: Sequence[str] = ()) -> None:
    """Of all pairs of delta_studies.py, but of studies `without`."""
    for study, of in STUDIES.items():
        a_s, b_s = times_s(study)
        for name, pair in of.pairs.items():
            a, b = of.applications(pair)
            demands = (a.demand, b.demand) if study == "underload" else (1.0, 1.0)
            phases = Phase(a_s, demands[0], a.weight, a.cores), Phase(b_s, demands[1], b.weight, b.cores)
            if study not in without:
                with DataFile(folder / f"{stem(study, name)}.jsonl", setup_of(of, pair), asdict(of.plan)) as file:
                    for wanted in of.wanted():
                        dts_s = [one / S for one in wanted.delays.ns(a_s, b_s)]
                        for run in proportional(*phases, dts_s, wanted.policies):
                            file.add(run)
