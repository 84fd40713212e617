import { describe, expect, test } from "vitest";
import { formatRoute, parseRoute } from "../../../web/src/route";
import { routeOf, sightOf } from "../../../web/src/timeline/address";
import { filterRows, sortRows } from "../../../web/src/table_rows";
import {
    blockSize,
    byteScale,
    moment,
    number,
    percent,
    plural,
    ranges,
    rate,
    seconds,
    share,
    size,
    timeScale,
} from "../../../web/src/units";

describe("numbers are told as people read them", () => {
    test.each([
        [1.2, "1.20 s"],
        [0.35, "350 ms"],
        [0.9999, "1.00 s"],
        [2.5e-9, "2.50 ns"],
        [0, "0 s"],
        [null, "–"],
        [125, "2 min 05 s"],
        [7_325, "2 h 02 min"],
    ])("%d seconds: %s", (value, text) => expect(seconds(value)).toBe(text));

    test.each([
        [15_800_000_000, "15.8 GB"],
        [999_600, "1.00 MB"],
        [12, "12 B"],
        [0, "0 B"],
        [null, "–"],
    ])("%d bytes: %s", (value, text) => expect(size(value)).toBe(text));

    test.each([
        [0.987, "98.7 %"],
        [0, "0.0 %"],
        [0.99949, "99.9 %"],
        [0.9997, "99.97 %"],
        [0.999999, "99.99 %"],
        [1, "100 %"],
        [1.026, "102.6 %"],
        [null, "–"],
    ])("a share of %d: %s", (value, text) => expect(share(value)).toBe(text));

    test("the others", () => {
        expect(rate(1.2e9)).toBe("1.20 GB/s");
        expect(blockSize(524_288)).toBe("512 KiB");
        expect(blockSize(524_289)).toBe("524 kB");
        expect(percent(0.0421)).toBe("4.2 %");
        expect(percent(0.5)).toBe("50 %");
        expect(number(1234567)).toBe("1,234,567");
        expect(plural(1, "block")).toBe("1 block");
        expect(plural(2, "process", "processes")).toBe("2 processes");
        expect(timeScale(0.2).name).toBe("ms");
        expect(timeScale(0.2).format(0.15)).toBe("150");
        expect(byteScale(3e9).format(1.5e9)).toBe("1.5");
    });

    test("ranks are told as ranges", () => {
        expect(ranges([3, 1, 2, 7, 9, 8])).toBe("1–3, 7–9");
        expect(ranges([1, 3, 5, 7, 9, 11], 2)).toBe("1, 3 and 4 more");
        expect(ranges([])).toBe("");
    });

    test("moments on an axis can be told apart, however far one zooms in", () => {
        for (const span of [1000, 1, 1e-3, 1e-6]) {
            expect(moment(123.456789, span)).not.toBe(moment(123.456789 + span / 10, span));
        }
        expect(moment(90, 180)).toBe("90 s");
    });
});

describe("addresses", () => {
    test("are read as they are written", () => {
        const route = { tab: "timeline", file: 3, from: 1.5, to: 2, rank: 0, call: 12 } as const;
        expect(parseRoute(formatRoute(route))).toEqual(route);
    });

    test("hold words with any signs", () => {
        const route = { tab: "files", filter: "a b&c=d?#/é", server: "" } as const;
        expect(parseRoute(formatRoute(route))).toEqual(route);
    });

    test("lead back to what was in sight, and nowhere beyond the run", () => {
        const limits = { duration: 100, rows: 64, least: 1e-6 };
        const now = { time: { from: 0, to: 100 }, rows: { from: 0, to: 64 } };
        const sight = { time: { from: 12.3456789, to: 12.5 }, rows: { from: 3.25, to: 17 } };
        const back = { tab: "timeline", ...routeOf(sight, limits) } as const;
        expect(sightOf(back, -1, now, limits)).toEqual(sight);
        expect(routeOf(now, limits)).toEqual({});
        expect(sightOf({ tab: "timeline" }, -1, now, limits)).toBeNull();
        const beyond = sightOf({ tab: "timeline", from: 90, to: 900, rows: "60-99" }, -1, now, limits)!;
        expect(beyond.time.to).toBeLessThanOrEqual(100);
        expect(beyond.rows.to).toBeLessThanOrEqual(64);
    });

    test("of a moment without length lead to it, too", () => {
        const limits = { duration: 100, rows: 8, least: 1e-6 };
        const now = { time: { from: 0, to: 100 }, rows: { from: 0, to: 8 } };
        const { time, rows } = sightOf({ tab: "timeline", from: 7, to: 7 }, 4, now, limits)!;
        expect(time.from).toBeCloseTo(7, 5);
        expect(time.to).toBeGreaterThan(time.from);
        expect(rows).toEqual({ from: 2, to: 7 });
    });

    test("that make no sense lead to the overview, and numbers that are none are left out", () => {
        expect(parseRoute("#nowhere?file=x&rank=")).toEqual({ tab: "overview" });
        expect(parseRoute("")).toEqual({ tab: "overview" });
    });
});

describe("tables", () => {
    const rows = [{ v: 2 }, { v: null }, { v: 10 }, { v: 1 }];

    test("sort by number, what is not known last either way", () => {
        expect(sortRows(rows, (row) => row.v, false).map(({ v }) => v)).toEqual([1, 2, 10, null]);
        expect(sortRows(rows, (row) => row.v, true).map(({ v }) => v)).toEqual([10, 2, 1, null]);
    });

    test("sort words with numbers as people do, and keep the order of equals", () => {
        expect(sortRows(["rank 10", "rank 9"], (row) => row, false)).toEqual(["rank 9", "rank 10"]);
        const equal = [
            { k: 1, n: "a" },
            { k: 1, n: "b" },
        ];
        expect(sortRows(equal, ({ k }) => k, true).map(({ n }) => n)).toEqual(["a", "b"]);
    });

    test("filter by all words, in any case and order", () => {
        const paths = ["/scratch/a.h5", "/scratch/b.h5", "/home/A.log"];
        expect(filterRows(paths, (path) => path, "a. SCRATCH")).toEqual(["/scratch/a.h5"]);
        expect(filterRows(paths, (path) => path, "  ")).toEqual(paths);
    });
});
