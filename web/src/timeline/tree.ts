/**
 * Levels of detail over spans: each node stands for 16 neighbours of its lane, with their time by class. Whatever the
 * zoom, drawing a lane looks at a few nodes per pixel, never at all calls.
 */

import { CLASSES } from "../theme";
import type { Spans } from "./spans";

export const FAN_OUT = 16;
const C = CLASSES.length;

const WIDE = 5; // pixels
const EDGE = 0.25;

/** Nodes of one depth; depth 0 are the spans themselves and are not copied. */
interface Floor {
    lane: Uint32Array;
    start: Float64Array;
    end: Float64Array;
    /** Nanoseconds by class, C per node. */
    busy: Float32Array;
}

export interface Tree {
    spans: Spans;
    floors: Floor[];
}

export function buildTree(spans: Spans): Tree {
    const floors: Floor[] = [];
    let lane = spans.lane;
    while (widest(lane) > FAN_OUT) {
        const floor = floorAbove(lane, floors.length ? floors[floors.length - 1]! : null, spans);
        floors.push(floor);
        lane = floor.lane;
    }
    return { spans, floors };
}

function widest(lane: Uint32Array): number {
    let most = 0;
    for (let l = 0; l + 1 < lane.length; l++) most = Math.max(most, lane[l + 1]! - lane[l]!);
    return most;
}

function floorAbove(lower: Uint32Array, below: Floor | null, spans: Spans): Floor {
    const lane = new Uint32Array(lower.length);
    for (let l = 0; l + 1 < lower.length; l++)
        lane[l + 1] = lane[l]! + Math.ceil((lower[l + 1]! - lower[l]!) / FAN_OUT);
    const nodes = lane[lane.length - 1]!;
    const floor: Floor = {
        lane,
        start: new Float64Array(nodes),
        end: new Float64Array(nodes),
        busy: new Float32Array(nodes * C),
    };
    const start = below ? below.start : spans.start;
    const end = below ? below.end : spans.end;
    for (let l = 0; l + 1 < lower.length; l++) {
        for (let node = lane[l]!; node < lane[l + 1]!; node++) {
            const first = lower[l]! + (node - lane[l]!) * FAN_OUT;
            const last = Math.min(first + FAN_OUT, lower[l + 1]!);
            floor.start[node] = start[first]!;
            let latest = end[first]!;
            for (let i = first; i < last; i++) {
                if (end[i]! > latest) latest = end[i]!;
                if (below) for (let c = 0; c < C; c++) floor.busy[node * C + c]! += below.busy[i * C + c]!;
                else floor.busy[node * C + spans.class[i]!]! += Math.max(1, spans.busy[i]!);
            }
            floor.end[node] = latest;
        }
    }
    return floor;
}

/** Pixels of one row while it is drawn: nanoseconds by slot, `slots` per pixel. */
export interface PixelRow {
    pixels: number;
    slots: number;
    time: Float32Array;
}

export interface Window {
    from: number;
    to: number;
}

/**
 * Adds the time of one lane to a row of pixels, and returns how many nodes and pixels it touched.
 * `slots` has the row's slot of each class; times are multiplied by `weight`.
 */
export function addLane(
    tree: Tree,
    lane: number,
    window: Window,
    row: PixelRow,
    slots: ArrayLike<number>,
    weight: number,
): number {
    const { spans, floors } = tree;
    const { from, to } = window;
    const pixel = (to - from) / row.pixels;
    let touched = 0;

    const { time, slots: stride, pixels } = row;
    const spread = (start: number, end: number, busy: number, at: number) => {
        const x0 = Math.max(0, (start - from) / pixel);
        const x1 = Math.min(pixels, (end - from) / pixel);
        const density = (Math.max(1, busy) / Math.max(1, end - start)) * pixel * weight;
        const first = Math.min(pixels - 1, Math.floor(x0));
        const last = Math.min(pixels - 1, Math.floor(x1));
        touched += last - first + 1;
        // Neighbours are to be told apart: where a wide call begins, its pixel is fainter.
        const edge = x1 - x0 >= WIDE && start > from ? EDGE : 1;
        // A call of no length counts as one nanosecond: it is to be seen.
        time[first * stride + at]! += Math.max(Math.min(first + 1, x1) - x0, 1 / pixel) * density * edge;
        for (let x = first + 1; x < last; x++) time[x * stride + at]! += density;
        if (last > first) time[last * stride + at]! += (x1 - last) * density;
    };

    const visit = (depth: number, first: number, last: number, laneStart: number) => {
        const floor = depth ? floors[depth - 1]! : null;
        const starts = floor ? floor.start : spans.start;
        const ends = floor ? floor.end : spans.end;
        for (let i = first; i < last; i++) {
            const start = starts[i]!;
            if (start >= to) return;
            touched++;
            const end = ends[i]!;
            if (end < from) continue;
            if (!floor) spread(start, end, spans.busy[i]!, slots[spans.class[i]!]!);
            else if (end - start <= pixel && start >= from) {
                const x = Math.min(row.pixels - 1, Math.floor((start - from) / pixel));
                for (let c = 0; c < C; c++) row.time[x * row.slots + slots[c]!]! += floor.busy[i * C + c]! * weight;
            } else {
                const below = depth > 1 ? floors[depth - 2]!.lane : spans.lane;
                const child = below[laneStart]! + (i - floor.lane[laneStart]!) * FAN_OUT;
                visit(depth - 1, child, Math.min(child + FAN_OUT, below[laneStart + 1]!), laneStart);
            }
        }
    };

    const top = floors.length ? floors[floors.length - 1]!.lane : spans.lane;
    visit(floors.length, top[lane]!, top[lane + 1]!, lane);
    return touched;
}

/** The spans of a lane that touch [from, to], by their start; at most `most`. */
export function spansAt(tree: Tree, lane: number, { from, to }: Window, most: number): number[] {
    const { spans, floors } = tree;
    const found: number[] = [];
    const visit = (depth: number, first: number, last: number) => {
        const floor = depth ? floors[depth - 1]! : null;
        for (let i = first; i < last && found.length < most; i++) {
            if ((floor ? floor.start : spans.start)[i]! > to) return;
            if ((floor ? floor.end : spans.end)[i]! < from) continue;
            if (!floor) found.push(i);
            else {
                const below = depth > 1 ? floors[depth - 2]!.lane : spans.lane;
                const child = below[lane]! + (i - floor.lane[lane]!) * FAN_OUT;
                visit(depth - 1, child, Math.min(child + FAN_OUT, below[lane + 1]!));
            }
        }
    };
    const top = floors.length ? floors[floors.length - 1]!.lane : spans.lane;
    visit(floors.length, top[lane]!, top[lane + 1]!);
    return found;
}
