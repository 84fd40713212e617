/** Paints the timeline's calls into pixels: no call is left out, whatever the zoom, and none costs more than its pixels. */

import { CLASSES, type CallClass } from "../theme";
import type { Band } from "./bands";
import { addLane, type PixelRow, type Tree, type Window } from "./tree";

export interface Palette {
    /** 0xBBGGRR for each slot. */
    colours: number[];
    background: number;
    /** The slot of a class at a level. */
    slot: (c: number, level: number) => number;
}

export interface Picture {
    width: number;
    height: number;
    /** 0xAABBGGRR, line by line from the top: what ImageData holds on a little-endian machine. */
    pixels: Uint32Array;
    /** How many nodes of the tree and pixels of calls were looked at: the cost of the picture. */
    touched: number;
}

/** How much of the colour a pixel shows that calls hardly fill: enough to see a single short call. */
const FAINTEST = 0.35;
const SHADES = 63;

/** A level above another one counts only where nothing below it is seen: what it waited for says more. */
const UPPER_LEVEL = 1e-3;

export function paint(
    tree: Tree,
    window: Window,
    bands: readonly Band[],
    width: number,
    height: number,
    levels: number,
    palette: Palette,
): Picture {
    const pixels = new Uint32Array(width * height).fill(opaque(palette.background));
    const slots = palette.colours.length;
    const row: PixelRow = { pixels: width, slots, time: new Float32Array(width * slots) };
    const shades = shadesOf(palette);
    // The slot of each class, level by level.
    const slotsOf = Array.from({ length: levels }, (_, level) =>
        Uint8Array.from(CLASSES, (_, c) => palette.slot(c, level)),
    );
    let touched = 0;
    for (const { top, bottom, lanes } of bands) {
        const first = Math.max(0, top);
        const last = Math.min(height, bottom);
        if (last <= first) continue;
        row.time.fill(0);
        const deepest = Math.max(...lanes.map((lane) => lane % levels));
        for (const lane of lanes) {
            const level = lane % levels;
            const weight = level === deepest ? 1 : UPPER_LEVEL ** (deepest - level);
            touched += addLane(tree, lane, window, row, slotsOf[level]!, weight);
        }
        const processes = new Set(lanes.map((lane) => Math.floor(lane / levels))).size;
        paintLine(pixels, first * width, row, ((window.to - window.from) / width) * processes, shades);
        for (let y = first + 1; y < last; y++) pixels.copyWithin(y * width, first * width, (first + 1) * width);
    }
    return { width, height, pixels, touched };
}

/** Each pixel in the colour of what took most of its time, the fainter the less of it was taken. */
function paintLine(pixels: Uint32Array, at: number, row: PixelRow, full: number, shades: Uint32Array): void {
    const { time, slots } = row;
    const steps = SHADES / full;
    for (let x = 0, i = 0; x < row.pixels; x++) {
        let most = 0;
        let slot = -1;
        let total = 0;
        for (let s = 0; s < slots; s++, i++) {
            const own = time[i]!;
            total += own;
            if (own > most) {
                most = own;
                slot = s;
            }
        }
        if (slot >= 0) pixels[at + x] = shades[slot * (SHADES + 1) + Math.min(SHADES, Math.round(total * steps))]!;
    }
}

/** Each colour from its faintest to itself. */
function shadesOf({ colours, background }: Palette): Uint32Array {
    const shades = new Uint32Array(colours.length * (SHADES + 1));
    colours.forEach((one, slot) => {
        for (let step = 0; step <= SHADES; step++) {
            const share = FAINTEST + ((1 - FAINTEST) * step) / SHADES;
            shades[slot * (SHADES + 1) + step] = opaque(blend(background, one, share));
        }
    });
    return shades;
}

function opaque(colour: number): number {
    return (0xff000000 | colour) >>> 0;
}

export function blend(under: number, over: number, share: number): number {
    let mixed = 0;
    for (const shift of [0, 8, 16]) {
        const low = (under >> shift) & 255;
        const high = (over >> shift) & 255;
        mixed |= Math.round(low + (high - low) * share) << shift;
    }
    return mixed;
}

/** #rrggbb as 0xBBGGRR. */
export function colour(hex: string): number {
    const value = parseInt(hex.slice(1), 16);
    return ((value & 255) << 16) | (value & 0xff00) | (value >> 16);
}

/** Colours by class: what a call does. Only those of `present` classes get a slot. */
export function classPalette(
    classes: Record<CallClass, string>,
    present: ReadonlySet<CallClass>,
    background: string,
): Palette {
    const used = CLASSES.filter((c) => present.has(c));
    const slots = CLASSES.map((c) => Math.max(0, used.indexOf(c)));
    return { colours: used.map((c) => colour(classes[c])), background: colour(background), slot: (c) => slots[c]! };
}

/** Colours by level: which interface was called. */
export function levelPalette(levels: string[], background: string): Palette {
    return { colours: levels.map(colour), background: colour(background), slot: (_, level) => level };
}

/** One colour for all: what a choice of files leaves out. */
export function plainPalette(hex: string, background: string): Palette {
    return { colours: [colour(hex)], background: colour(background), slot: () => 0 };
}
