/** A box that its content may overflow: it shows on which sides more lies, and the keyboard scrolls it. */

import { h } from "./dom";

const NOT_WHOLE = "scroll sideways for more columns";

/**
 * How many pixels of a column are in sight at the left and at the right edge of `box` where the edge cuts it: half a number
 * reads as another number, so these are covered. Not columns that fill most of the box: nothing would be left to see.
 */
function cutColumns(box: HTMLElement): [left: number, right: number] {
    const { left, right } = box.getBoundingClientRect();
    const from = left + box.clientLeft;
    const to = Math.min(right, from + box.clientWidth);
    const heads = [...box.querySelectorAll("thead th")].map((head) => head.getBoundingClientRect());
    const narrow = heads.filter(({ width }) => width < 0.6 * (to - from));
    const first = narrow.find((head) => head.left < from - 1 && head.right > from + 1);
    const last = narrow.find((head) => head.left < to - 1 && head.right > to + 1);
    return [first ? Math.ceil(first.right - from) : 0, last ? Math.ceil(to - last.left) : 0];
}

/** `content` in a box named `label`; `hint` says in words when columns are out of sight. */
export function sideways(label: string, content: HTMLElement, hint: HTMLElement): HTMLElement {
    const box = h("div", { class: "scroll", role: "region", "aria-label": label }, content);
    const frame = h("div", { class: "sideways" }, box);
    const look = () => {
        const hidden = box.scrollWidth - box.clientWidth;
        frame.classList.toggle("more-left", box.scrollLeft > 1);
        frame.classList.toggle("more-right", box.scrollLeft < hidden - 1);
        const [left, right] = cutColumns(box);
        frame.style.setProperty("--cut-left", `${left}px`);
        frame.style.setProperty("--cut-right", `${right}px`);
        hint.textContent = hidden > 1 ? NOT_WHOLE : "";
        // Only what can be scrolled is a stop of the Tab key.
        if (hidden > 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
        else box.removeAttribute("tabindex");
    };
    box.addEventListener("scroll", look, { passive: true });
    const sizes = new ResizeObserver(look);
    for (const element of [box, content]) sizes.observe(element);
    return frame;
}
