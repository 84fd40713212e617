import { expect, test } from "vitest";
import type { Spans } from "../../../web/src/timeline/spans";
import { addLane, buildTree, spansAt, type PixelRow } from "../../../web/src/timeline/tree";
import { CLASSES } from "../../../web/src/theme";
import { randomOf } from "./random";

/** Lanes of spans one after the other, some of no length, some over all others. */
function randomSpans(seed: number, sizes: number[], long = 0.02): Spans {
    const random = randomOf(seed);
    const rows: { start: number; end: number; class: number }[][] = sizes.map((size) => {
        let at = 0;
        return Array.from({ length: size }, () => {
            at += Math.floor(random() * 50);
            const length = random() < long ? 3000 : random() < 0.1 ? 0 : Math.floor(random() * 40);
            return { start: at, end: at + length, class: Math.floor(random() * CLASSES.length) };
        });
    });
    const all = rows.flat();
    const lane = new Uint32Array(sizes.length + 1);
    sizes.forEach((size, i) => (lane[i + 1] = lane[i]! + size));
    return {
        lanes: sizes.length,
        lane,
        start: Float64Array.from(all, (one) => one.start),
        end: Float64Array.from(all, (one) => one.end),
        busy: Float64Array.from(all, (one) => one.end - one.start),
        class: Uint8Array.from(all, (one) => one.class),
        reference: Int32Array.from(all, (_, i) => i),
    };
}

const identity = CLASSES.map((_, c) => c);
const row = (pixels: number): PixelRow => ({
    pixels,
    slots: CLASSES.length,
    time: new Float32Array(pixels * CLASSES.length),
});

test("all time of a lane is in its pixels, whatever the zoom", () => {
    for (const seed of [1, 2, 3]) {
        const spans = randomSpans(seed, [5000]);
        const tree = buildTree(spans);
        for (const [from, to, pixels] of [
            [0, 200_000, 700],
            [0, 200_000, 64],
            [30_000, 60_000, 500],
            [30_000, 30_050, 300],
        ] as const) {
            const picture = row(pixels);
            addLane(tree, 0, { from, to }, picture, identity, 1);
            for (let c = 0; c < CLASSES.length; c++) {
                let drawn = 0;
                for (let x = 0; x < pixels; x++) drawn += picture.time[x * CLASSES.length + c]!;
                let truth = 0;
                for (let i = 0; i < spans.start.length; i++) {
                    if (spans.class[i] !== c) continue;
                    truth += Math.max(0, Math.min(spans.end[i]!, to) - Math.max(spans.start[i]!, from));
                }
                // Off by at most: a nanosecond for each span of no length, a faint pixel for each wide one, and what
                // lies in a node of one pixel at the rim.
                const n = spans.class.reduce((sum, own) => sum + Number(own === c), 0);
                const pixel = (to - from) / pixels;
                expect(Math.abs(drawn - truth)).toBeLessThan(n + (to - from) * 0.02 + 40 * pixel);
            }
        }
    }
});

test("each span is seen: where spans lie, pixels have time, and nowhere else", () => {
    const spans = randomSpans(7, [3000], 0.001);
    const tree = buildTree(spans);
    const [from, to, pixels] = [20_000, 60_000, 3000];
    const picture = row(pixels);
    addLane(tree, 0, { from, to }, picture, identity, 1);
    const pixel = (to - from) / pixels;
    const truth = new Set<number>();
    for (let i = 0; i < spans.start.length; i++) {
        if (spans.start[i]! >= to || spans.end[i]! < from) continue;
        const first = Math.max(0, Math.floor((spans.start[i]! - from) / pixel));
        const last = Math.min(pixels - 1, Math.floor((spans.end[i]! - from) / pixel));
        for (let x = first; x <= last; x++) truth.add(x);
    }
    const time = (x: number) =>
        picture.time.subarray(x * CLASSES.length, (x + 1) * CLASSES.length).reduce((a, b) => a + b, 0);
    expect(truth.size).toBeLessThan(pixels * 0.9);
    for (let x = 0; x < pixels; x++) {
        if (!truth.has(x)) expect(time(x), `pixel ${x} is empty`).toBe(0);
        // A node of one pixel may put into the pixel where it begins what lies in the next one.
        else expect(time(x) + (x ? time(x - 1) : 0), `pixel ${x} has calls`).toBeGreaterThan(0);
    }
});

test("what ended before the window costs and shows nothing", () => {
    const spans = randomSpans(7, [3000]);
    const picture = row(100);
    const touched = addLane(buildTree(spans), 0, { from: 1e6, to: 2e6 }, picture, identity, 1);
    expect(picture.time.every((time) => time === 0)).toBe(true);
    expect(touched).toBeLessThanOrEqual(16);
});

test("the cost of a picture follows its pixels, not the calls", () => {
    const costs = [1_000, 10_000, 100_000].map((n) => {
        const tree = buildTree(randomSpans(5, [n]));
        return addLane(tree, 0, { from: 0, to: 25 * n }, row(200), identity, 1);
    });
    expect(costs[2]!).toBeLessThan(3 * costs[0]!);
});

test("lanes do not see each other's spans", () => {
    const spans = randomSpans(11, [100, 0, 2000, 17]);
    const tree = buildTree(spans);
    for (let lane = 0; lane < 4; lane++) {
        const found = spansAt(tree, lane, { from: 100, to: 900 }, 1e6);
        const truth: number[] = [];
        for (let i = spans.lane[lane]!; i < spans.lane[lane + 1]!; i++) {
            if (spans.start[i]! <= 900 && spans.end[i]! >= 100) truth.push(i);
        }
        expect(found).toEqual(truth);
    }
});

test("no more spans are found than asked for", () => {
    expect(spansAt(buildTree(randomSpans(1, [500])), 0, { from: 0, to: 1e9 }, 7).length).toBe(7);
});
