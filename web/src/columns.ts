/**
 * Reads the binary columns that python/halcyon/observe/viewer/columns.py writes: deflated, in base64, one column after
 * the other, each as planes of bytes, the lowest byte of all its values first.
 */

import type { Column } from "./data";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const WIDTH = { u8: 1, u16: 2, u32: 4, i32: 4, i64: 8 } as const;

/** All columns by name; i64 becomes Float64Array, exact up to 2^53 (104 days in ns, 9 PB). */
export async function decodeColumns(base64: string, columns: Column[]): Promise<Map<string, Numbers>> {
    const bytes = base64.trim() ? await inflate(bytesOf(base64.trim())) : new Uint8Array(0);
    const decoded = new Map<string, Numbers>();
    let at = 0;
    for (const column of columns) {
        const size = WIDTH[column.type] * column.length;
        if (at + size > bytes.length) {
            throw new Error(
                `The page is cut short: column ${column.name} ends at byte ${at + size} of ${bytes.length}.`,
            );
        }
        decoded.set(column.name, decodeColumn(bytes.subarray(at, at + size), column));
        at += size;
    }
    return decoded;
}

/** One column from its planes. */
export function decodeColumn(planes: Uint8Array, { type, delta, length }: Column): Numbers {
    if (type === "i64") return wide(planes, length, delta);
    const values = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array }[type];
    const array = new values(length);
    for (let plane = 0; plane < WIDTH[type]; plane++) {
        const from = plane * length;
        for (let i = 0; i < length; i++) array[i]! |= planes[from + i]! << (8 * plane);
    }
    // The typed array wraps around as the differences did.
    if (delta) for (let i = 1; i < length; i++) array[i]! += array[i - 1]!;
    return array;
}

function wide(planes: Uint8Array, n: number, delta: boolean): Float64Array {
    const values = new Float64Array(n);
    for (let i = 0; i < n; i++) {
        const low = planes[i]! | (planes[n + i]! << 8) | (planes[2 * n + i]! << 16) | (planes[3 * n + i]! << 24);
        const high =
            planes[4 * n + i]! | (planes[5 * n + i]! << 8) | (planes[6 * n + i]! << 16) | (planes[7 * n + i]! << 24);
        const value = high * 4294967296 + (low >>> 0);
        values[i] = delta && i > 0 ? values[i - 1]! + value : value;
    }
    return values;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
