"""The demo's page and terminal open with what was found, and what it rests on."""

from dataclasses import replace

from measurements import CALM, PACE, counted, round_of

from halcyon.demo.calibration import Pace
from halcyon.demo.comparison_rounds import LIMIT_BITES, Comparison
from halcyon.demo.overload import Overload
from halcyon.demo.page import opening_of
from halcyon.demo.table_rows import comparison_rows, overload_rows
from halcyon.demo.verdict import judge
from halcyon.quantities import rate

SLOW = replace(CALM, visible_s=replace(CALM.visible_s, median=0.1))
GOOD = round_of(file_per_process=SLOW, control=SLOW)
UNLIMITED = replace(SLOW, store_s=0.004)
BAD = round_of(file_per_process=UNLIMITED, control=SLOW)


def test_what_was_found_comes_first_with_its_range() -> None:
    verdict = judge(Comparison([GOOD, GOOD], {}), None, None)
    assert verdict.met
    assert "Halcyon, 2 ranks" in verdict.sentences[1]
    assert "blocked the simulation 0.0100 times as long as file-per-process" in verdict.sentences[1]
    assert verdict.cautions == []


def test_limit_control_and_rounds_are_stated() -> None:
    storage, control, rounds = judge(Comparison([GOOD, BAD], {}), None, None).conditions
    assert rate(PACE.limit) in storage
    assert "storing took 50 % of that (aimed at: 30 % to 80 %)" in storage
    assert "file-per-process took 1.00 times as long as itself" in control
    assert rounds.startswith("Medians over 1 round of 2")


def test_a_round_that_does_not_count_is_told_with_its_cause() -> None:
    (caution,) = judge(Comparison([GOOD, BAD], {}), None, None).cautions
    assert caution.startswith("Round 2 does not count: file-per-process: store/compute 0.0100: the limit does not bite")


def test_a_round_counts_however_halcyon_used_the_storage_in_it() -> None:
    """Else its good rounds alone, or its bad ones, would be left."""
    for store_s in (0.0, 4.0):
        own = replace(CALM, store_s=store_s)
        made = round_of(file_per_process=SLOW, control=SLOW, collective=own, halcyon_1=own, halcyon_2=own)
        assert made.failures() == []


def test_a_limit_that_bites_only_one_of_the_references_does_not_count() -> None:
    for other in ({"file_per_process": UNLIMITED, "control": SLOW}, {"file_per_process": SLOW, "control": UNLIMITED}):
        ((premise, detail),) = round_of(**other).failures()
        assert premise == LIMIT_BITES
        assert "store/compute 0.0100" in detail


def test_load_at_calibration_is_named_as_the_cause() -> None:
    """Calibrated at 1 s for a phase that takes 0.4 s: the limit is too low for the rounds."""
    wrong = Pace.of(PACE.storm, 1.0)
    run = replace(SLOW, store_s=wrong.store_s)
    made = round_of(wrong, **dict.fromkeys(("file_per_process", "control", "halcyon_2"), run))
    verdict = judge(Comparison([made], {}), None, None)
    assert not verdict.met
    assert "the machine was busier at calibration than in the round" in verdict.cautions[0]


def test_no_round_that_counts_proves_nothing() -> None:
    verdict = judge(Comparison([BAD, BAD], {}), None, None)
    assert not verdict.met
    (only,) = verdict.sentences
    assert only.startswith("Not met: the premises held in none of 2 rounds.")


def test_storage_that_is_not_limited_is_told_with_the_reason() -> None:
    plain = replace(GOOD, pace=None)
    storage = judge(Comparison([plain], {}), None, "this is not root").conditions[0]
    assert "not limited (this is not root)" in storage


def test_the_page_opens_with_verdict_limit_control_caution_and_both_tables() -> None:
    comparison = Comparison([GOOD, BAD], {})
    overload = Overload(1e6, {"file-per-process": CALM, "block": CALM, "skip": counted("skipped_blocks")}, {})
    verdict = judge(comparison, overload, None)
    tables = [comparison_rows(comparison), overload_rows(overload)]
    page = opening_of(verdict, tables).replace("\N{WORD JOINER}", "").replace("\N{NO-BREAK SPACE}", " ")
    places = [page.index(text) for text in (*verdict.sentences, *verdict.conditions, *verdict.cautions)]
    places += [page.index(f"<caption>{table.title}") for table in tables]
    assert places == sorted(places)
    for table in tables:
        for section in table.sections:
            for row in section:
                assert all(cell in page for cell in row)
