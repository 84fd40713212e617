import { expect, test } from "vitest";
import { bandsOf, separates } from "../../../web/src/timeline/bands";
import { blend, colour, levelPalette, paint, plainPalette } from "../../../web/src/timeline/paint";
import { pick } from "../../../web/src/timeline/pick";
import type { Spans } from "../../../web/src/timeline/spans";
import { buildTree } from "../../../web/src/timeline/tree";

/** One span per lane: lane l from 100 l to 100 l + 50. */
function stairs(lanes: number): Spans {
    const each = <T extends Float64Array | Uint32Array | Uint8Array | Int32Array>(
        array: T,
        value: (l: number) => number,
    ): T => {
        for (let l = 0; l < array.length; l++) array[l] = value(l);
        return array;
    };
    return {
        lanes,
        lane: each(new Uint32Array(lanes + 1), (l) => l),
        start: each(new Float64Array(lanes), (l) => 100 * l),
        end: each(new Float64Array(lanes), (l) => 100 * l + 50),
        busy: each(new Float64Array(lanes), () => 50),
        class: new Uint8Array(lanes),
        reference: each(new Int32Array(lanes), (l) => l),
    };
}

test("colours are read, mixed and stay within their bytes", () => {
    expect(colour("#102030")).toBe(0x302010);
    expect(blend(0x000000, 0xffffff, 0.5)).toBe(0x808080);
    expect(blend(0x102030, 0xffffff, 0)).toBe(0x102030);
    expect(blend(0x102030, 0xffffff, 1)).toBe(0xffffff);
});

test("a call is painted in its row and time, and nowhere else", () => {
    const bands = bandsOf(30, { from: 0, to: 3 }, 3, 1, [0]);
    const picture = paint(
        buildTree(stairs(3)),
        { from: 0, to: 300 },
        bands,
        300,
        30,
        1,
        plainPalette("#ff0000", "#ffffff"),
    );
    const at = (x: number, y: number) => picture.pixels[y * 300 + x]! & 0xffffff;
    for (let row = 0; row < 3; row++) {
        expect(at(100 * row + 25, 10 * row + 4)).toBe(0x0000ff);
        expect(at(100 * row + 60, 10 * row + 4)).toBe(0xffffff);
        expect(at(100 * row + 25, 10 * row + 9)).toBe(0xffffff); // the gap between rows
    }
});

test("levels lie in strips when there is room, and the lowest shows when there is none", () => {
    const spans = stairs(2);
    spans.start[1] = 0;
    spans.end[1] = 50;
    const tree = buildTree(spans); // one process, two levels at the same time
    const palette = levelPalette(["#00ff00", "#0000ff"], "#000000");
    const roomy = paint(tree, { from: 0, to: 100 }, bandsOf(20, { from: 0, to: 1 }, 1, 2, [0, 1]), 100, 20, 2, palette);
    expect(roomy.pixels[2 * 100 + 20]! & 0xffffff).toBe(0x00ff00);
    expect(roomy.pixels[14 * 100 + 20]! & 0xffffff).toBe(0xff0000);
    const tight = paint(tree, { from: 0, to: 100 }, bandsOf(5, { from: 0, to: 1 }, 1, 2, [0, 1]), 100, 5, 2, palette);
    expect(tight.pixels[2 * 100 + 20]! & 0xffffff).toBe(0xff0000);
});

test("with more rows than pixels, none is left out", () => {
    const bands = bandsOf(10, { from: 0, to: 1000 }, 1000, 1, [0]);
    expect(bands.flatMap(({ lanes }) => lanes)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(bands.length).toBe(10);
});

test("bands of rows in sight fill the height, in order", () => {
    for (const [height, from, to] of [
        [400, 0, 64],
        [333, 3.5, 17.25],
        [50, 0, 500],
    ] as const) {
        const bands = bandsOf(height, { from, to }, 500, 3, [0, 2]);
        for (let i = 1; i < bands.length; i++) expect(bands[i]!.top).toBeGreaterThanOrEqual(bands[i - 1]!.bottom);
        expect(bands[0]!.top).toBeLessThanOrEqual(0);
        expect(bands[bands.length - 1]!.bottom).toBeGreaterThanOrEqual(height - 2);
        for (const { lanes } of bands) for (const lane of lanes) expect(lane % 3).not.toBe(1);
    }
    expect(bandsOf(100, { from: 0, to: 5 }, 5, 3, [])).toEqual([]);
    expect(separates(100, { from: 0, to: 5 }, 4)).toBe(true);
    expect(separates(100, { from: 0, to: 50 }, 4)).toBe(false);
});

test("the call under the pointer is the one that holds the time, else the nearest", () => {
    const spans = stairs(2);
    spans.end[0] = 120; // lane 0: 0 to 120, lane 1: 100 to 150
    const tree = buildTree(spans);
    const both = { top: 0, bottom: 1, lanes: [0, 1], row: 0 };
    expect(pick(tree, both, 110, 5)).toEqual({ span: 1, near: 2 }); // the lower level
    expect(pick(tree, both, 60, 5)).toEqual({ span: 0, near: 1 });
    expect(pick(tree, both, 153, 5)).toEqual({ span: 1, near: 1 });
    expect(pick(tree, both, 170, 5)).toBeNull();
});
