/** Which colour means which throughput. */

import { h } from "../dom";
import { rate } from "../units";

/** From the slowest to the fastest; null: none is known. */
export function rampLegend(range: [number, number] | null): HTMLElement | null {
    return range
        ? h(
              "span",
              { class: "ramp-legend" },
              rate(range[0]),
              h("span", { class: "ramp", "aria-hidden": "true" }),
              rate(range[1]),
          )
        : null;
}
