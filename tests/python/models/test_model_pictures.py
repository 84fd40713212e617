"""Pictures of `halcyon model`: each answer has one, with the measured points in it."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from model_command import model

from halcyon.figures.picture import SERIES, drawing
from halcyon.models.contention import contention
from halcyon.models.measurements import read_loads, read_striping, read_targets, read_writers
from halcyon.models.pictures.contention import draw_contention
from halcyon.models.pictures.histogram import draw_histogram
from halcyon.models.pictures.loads import draw_loads
from halcyon.models.pictures.sweep import draw_sweep
from halcyon.models.placed import placed_as
from halcyon.models.stripes import LoadTable, compare, load_table
from halcyon.models.sweep import sweep


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("stripes --total 480 --request 160,64 --points wright:6.3", "160 stripes per job|measured|load over jobs"),
        ("stripes --total 480 --logs --points wright:G", "all targets|measured|load 3: 678 ranks"),
        ("stripes --total 480 --logs --points wright:G.9", "a log per rank|shared file|load 3: 678 ranks"),
        ("stripes --total 480 --jobs 4 --measured wright:F.1", "stripes alone varied|stripe size alone|both varied"),
        (
            "stripes --total 480 --jobs 4 --recommend --measured wright:6.3 --points wright:6.3 --accept-loss 15",
            "request 64 stripes instead of 160|load, measured|64 stripes: 86 % of the bandwidth,",
        ),
        ("stripes --total 480 --request 160 --jobs 4 --recommend", "480 targets: request 127|request 160: 601 targets"),
        ("stripes --targets wright:6.5/1", "expected at random (exact)|± 2 standard deviations|actual"),
        ("probe --points wright:F.2", "ideal: one writer's, divided|wright:F.2"),
    ],
)
def test_each_question_is_drawn(tmp_path: Path, arguments: str, words: str) -> None:
    told = model(*arguments.split(), "-o", str(tmp_path / "told.svg"))
    assert "[exit" not in told
    texts = {"".join(each.itertext()).strip() for each in ElementTree.parse(tmp_path / "told.svg").iter()}
    for word in words.split("|"):
        assert any(word in text for text in texts), word


def test_measured_loads_are_points_in_the_colour_of_their_request() -> None:
    points = [compare(480, one.jobs, one.request, one.in_use) for one in read_loads("wright:6.3")]
    rows = [row for request in (160, 64) for row in load_table(480, request, range(1, 5))]
    with drawing():
        curves = draw_loads(LoadTable(480, rows, points)).axes[0]
    dots = [line for line in curves.lines if len(line.get_xdata()) == 1]
    assert [dot.get_ydata()[0] for dot in dots] == [one.measured_load for one in points]
    assert {dot.get_xdata()[0] for dot in dots} == {4}
    assert [dot.get_color() == SERIES[0] for dot in dots] == [one.expected.request == 160 for one in points]
    assert [dot.get_color() == SERIES[1] for dot in dots] == [one.expected.request == 64 for one in points]


def test_bars_and_band_are_those_of_the_experiment() -> None:
    told = placed_as("wright:G.6/2", read_targets("wright:G.6/2")).fit
    assert told.spread is not None
    with drawing():
        axes = draw_histogram(told, "512 ranks", "actual").axes[0]
    assert [bar.get_height() for bar in axes.patches] == [47, 135, 126, 88, 55, 22, 6, 1, 0, 0]
    [band] = axes.collections
    top = max(y for _, y in band.get_paths()[0].vertices)
    assert top == pytest.approx(told.expected[2] + 2 * told.spread[2])


def test_the_grid_of_a_sweep_has_each_cell() -> None:
    with drawing():
        figure = draw_sweep(sweep(480, 4, read_striping("wright:F.1")))
    [grid] = [axes for axes in figure.axes if axes.images]
    assert grid.images[0].get_array().shape == (9, 9)
    assert {text.get_text() for text in grid.texts} >= {"15.6", "0.313", "4.07"}


def test_the_ideal_is_one_writers_bandwidth_divided() -> None:
    with drawing():
        axes = draw_contention([contention("F.2", read_writers("wright:F.2"))]).axes[0]
    [ideal] = [line for line in axes.lines if len(line.get_xdata()) > 16]
    assert ideal.get_ydata()[-1] == pytest.approx(211.265e6 / 16)
