/** A box that its content may overflow: it shows on which sides more lies, and the keyboard scrolls it. */

import { h } from "./dom";

const NOT_WHOLE = "scroll sideways for more columns";

/** `content` in a box named `label`; `hint` says in words when columns are out of sight. */
export function sideways(label: string, content: HTMLElement, hint: HTMLElement): HTMLElement {
    const box = h("div", { class: "scroll", role: "region", "aria-label": label }, content);
    const frame = h("div", { class: "sideways" }, box);
    const look = () => {
        const hidden = box.scrollWidth - box.clientWidth;
        frame.classList.toggle("more-left", box.scrollLeft > 1);
        frame.classList.toggle("more-right", box.scrollLeft < hidden - 1);
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
