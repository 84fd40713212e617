/** The colours of the timeline, and what they stand for. */

import type { Timeline } from "../data";
import { CLASS_NAMES, CLASSES, classOf, levelColour, levelName, type Theme } from "../theme";
import { classPalette, levelPalette, type Palette } from "./paint";

export type ColourBy = "kind" | "level";

export interface Legend {
    palette: Palette;
    /** Of what is in the levels that are shown. */
    entries: { colour: string; name: string }[];
}

/** `shown`: the numbers of the levels that are. */
export function legend(
    { functions, levels }: Timeline,
    theme: Theme,
    colourBy: ColourBy,
    shown: readonly number[],
): Legend {
    if (colourBy === "level") {
        const colours = levels.map((level) => levelColour(theme, level));
        return {
            palette: levelPalette(colours, theme.panel),
            entries: shown.map((index) => ({ colour: colours[index]!, name: levelName(levels[index]!) })),
        };
    }
    const present = new Set(functions.map(({ kind }) => classOf(kind)));
    const ofShown = functions.filter(({ level }) => shown.includes(levels.indexOf(level)));
    const kinds = new Set(ofShown.map(({ kind }) => classOf(kind)));
    return {
        palette: classPalette(theme.classes, present, theme.panel),
        entries: CLASSES.filter((one) => kinds.has(one)).map((one) => ({
            colour: theme.classes[one],
            name: CLASS_NAMES[one],
        })),
    };
}
