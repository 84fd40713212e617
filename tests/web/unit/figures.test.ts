import { expect, test } from "vitest";
import type { ExperimentRun, Finding, PhaseSketch } from "../../../web/src/data";
import { fittingAxis, gridOf, median } from "../../../web/src/options/cells";
import { gridShape, phaseGrid, throughputRange } from "../../../web/src/options/phases";
import { cumulative, cumulativeOf, rampColour, thinned } from "../../../web/src/options/quantiles";
import { legendRows, roundStep } from "../../../web/src/options/time_series";
import { THEMES } from "../../../web/src/theme";
import { keyed, moved, within, zoomed } from "../../../web/src/timeline/window";
import { byWeight } from "../../../web/src/views/findings";
import { phaseWords } from "../../../web/src/views/phases";
import { randomOf } from "./random";

const RANKS = { one: "rank", many: "ranks" };

const phase = (number: number, seconds: number[], throughput: number | null): PhaseSketch => ({
    number,
    kind: "write",
    start_s: 0,
    end_s: 1,
    bytes: 1,
    throughput,
    rank_count: seconds.length,
    ranks: seconds.map((_, i) => i),
    median_s: 1,
    seconds,
    variation: null,
    max_over_median: null,
});

test("a thinned list keeps its ends and its order", () => {
    const values = Array.from({ length: 1000 }, (_, i) => i * i);
    const few = thinned(values, 64);
    expect(few.length).toBe(64);
    expect([few[0], few[63]]).toEqual([0, 999 * 999]);
    expect([...few].sort((a, b) => a - b)).toEqual(few);
    expect(thinned([1, 2], 64)).toEqual([1, 2]);
});

test("a cumulative distribution rises to 1", () => {
    const random = randomOf(3);
    const values = Array.from({ length: 777 }, random);
    const points = cumulative(values, 100);
    expect(points.length).toBeLessThanOrEqual(101);
    expect(points[points.length - 1]![1]).toBe(1);
    for (const [value, share] of points) {
        expect(share).toBeCloseTo(values.filter((own) => own <= value).length / values.length, 10);
    }
});

test("a phase's throughput is said to be over another time than that of the phase", () => {
    const one = { ...phase(3, [0.5, 2], 4e6), bytes: 8e6, end_s: 40 };
    expect(phaseWords(one, RANKS)).toBe(
        "Phase 3: 8.00 MB in 40.0 s; 4.00 MB/s over the 2.00 s of I/O of the slowest rank",
    );
    expect(phaseWords({ ...one, bytes: 0, throughput: null }, RANKS)).toBe("Phase 3: 0 B in 40.0 s");
});

test("a picture of phases: a small one each, bars as shares of the slowest rank's time, slowest last", () => {
    const phases = [phase(1, [3, 1, 2], 10), phase(2, [5, 5], null)];
    const option = phaseGrid(THEMES.light, 800, phases, throughputRange(phases), 1, RANKS);
    expect(option.grid.length).toBe(2);
    expect(option.series.map(({ data }) => data)).toEqual([
        [1, 2, 3],
        [5, 5],
    ]);
    expect(option.xAxis.map(({ max }) => max)).toEqual([3, 5]);
    expect(option.series[1]!.itemStyle.color).toBe(THEMES.light.muted);
    const width = 800 / gridShape(800, 2).columns;
    for (const { left, width: own } of option.grid) expect((left % width) + own).toBeLessThanOrEqual(width);
});

test("colours of a ramp: its ends, and between them", () => {
    expect(rampColour(["#000000", "#ffffff"], 0)).toBe("#000000");
    expect(rampColour(["#000000", "#ffffff"], 1)).toBe("#ffffff");
    expect(rampColour(["#000000", "#ffffff"], 0.5)).toBe("#808080");
    expect(rampColour(["#000000", "#ffffff"], 7)).toBe("#ffffff");
});

test("steps of an axis are round", () => {
    expect(roundStep(180, 10)).toBe(20);
    expect(roundStep(0.9, 10)).toBeCloseTo(0.1);
    expect(roundStep(450, 10)).toBe(50);
});

test("zoom and pan stay within the run, whatever is asked", () => {
    const random = randomOf(9);
    let span = { from: 0, to: 100 };
    for (let i = 0; i < 2000; i++) {
        span =
            random() < 0.5 ? zoomed(span, random() * 3, 100, 0.5, random()) : moved(span, random() * 4 - 2, 100, 0.5);
        expect(span.from).toBeGreaterThanOrEqual(0);
        expect(span.to).toBeLessThanOrEqual(100 + 1e-9);
        expect(span.to - span.from).toBeGreaterThanOrEqual(0.5 - 1e-9);
    }
    expect(within({ from: -10, to: 20 }, 100, 1)).toEqual({ from: 0, to: 30 });
});

test("zooming in keeps the moment under the pointer", () => {
    const { from, to } = zoomed({ from: 20, to: 60 }, 0.5, 100, 1, 0.25);
    expect(from + (to - from) * 0.25).toBeCloseTo(30);
});

test("keys that are none of the timeline's are left to the browser", () => {
    const limits = { duration: 10, rows: 4, least: 0.1 };
    expect(keyed("Tab", { from: 0, to: 10 }, { from: 0, to: 4 }, limits)).toBeNull();
    expect(keyed("+", { from: 0, to: 10 }, { from: 0, to: 4 }, limits)?.time).toEqual({ from: 2.5, to: 7.5 });
    expect(keyed("0", { from: 2, to: 3 }, { from: 1, to: 2 }, limits)).toEqual({
        time: { from: 0, to: 10 },
        rows: { from: 0, to: 4 },
    });
});

test("findings: the most severe first, then the most expensive", () => {
    const finding = (key: string, severity: Finding["severity"], seconds_lost: number | null) =>
        ({ key, severity, seconds_lost }) as Finding;
    const order = byWeight([
        finding("a", "low", 9),
        finding("b", "high", 1),
        finding("c", "high", 5),
        finding("d", "medium", null),
    ]);
    expect(order.map(({ key }) => key).join("")).toBe("cbda");
});

test("a phase of which some ranks are kept has the distribution of all", () => {
    // 100 ranks that took 1 to 100; kept as Python keeps them: 24 of the first 84, and the 16 slowest.
    const kept = Array.from({ length: 24 }, (_, i) => Math.floor((i * 84) / 24) + 1);
    const seconds = [...kept, ...Array.from({ length: 16 }, (_, i) => 85 + i)];
    const points = cumulativeOf({ ...phase(1, seconds, null), rank_count: 100 }, 200);
    for (const [time, share] of points) expect(share).toBeCloseTo(time / 100);
});

test("runs stand in the cells of their parameters, numbers in their order", () => {
    const run = (name: string, nodes: string, mode: string): ExperimentRun => ({
        name,
        user: null,
        program: null,
        start_epoch_s: null,
        duration_s: 1,
        ranks: 1,
        bytes_written: 0,
        bytes_read: 0,
        io_share: null,
        write_throughput: null,
        parameters: { nodes, mode },
        phases: [phase(0, [1, 2], 1), phase(1, [0, 0], null)],
    });
    const runs = [run("a", "16", "own"), run("b", "4", "own"), run("c", "4", "shared"), run("d", "all", "own")];
    const grid = gridOf(runs, "nodes", "mode");
    expect([grid.rows, grid.columns]).toEqual([
        ["4", "16", "all"],
        ["own", "shared"],
    ]);
    expect(grid.cells.map(({ runs: own }) => own.map(({ name }) => name).join())).toEqual(["b", "c", "a", "", "d", ""]);
    expect(grid.cells[0]!.phases.length).toBe(1); // not the one without times
    expect(gridOf(runs, null, null).cells.map(({ runs: own }) => own.length)).toEqual([4]);
});

test("pictures whose ranks took very different times get a logarithmic axis", () => {
    const run = (nodes: string, phases: PhaseSketch[]) =>
        ({ parameters: { nodes }, phases }) as unknown as ExperimentRun;
    const near = [run("1", [phase(0, [1, 2], 1)]), run("2", [phase(0, [3, 9], 1)])];
    expect(fittingAxis(gridOf(near, "nodes", null))).toBe("linear");
    const far = [...near, run("4", [phase(0, [20, 30], 1)])];
    expect(fittingAxis(gridOf(far, "nodes", null))).toBe("log");
    // One rank alone has no line that would need room.
    const alone = [...near, run("4", [phase(0, [500], 1)])];
    expect(fittingAxis(gridOf(alone, "nodes", null))).toBe("linear");
    expect(fittingAxis(gridOf([], null, null))).toBe("linear");
});

test("a legend has as many rows as its names need", () => {
    expect(legendRows(["read", "write"], 800)).toBe(1);
    expect(legendRows(["read", "write"], 100)).toBe(2);
    expect(legendRows(["a name that is wider than all the room there is"], 100)).toBe(1);
});

test("a median leaves out what is not known", () => {
    expect(median([3, null, 1])).toBe(2);
    expect(median([null])).toBeNull();
});
