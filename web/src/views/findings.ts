/** What is wrong with the run's I/O, how it is known, what to change. */

import type { Finding } from "../data";
import { h, nothing, prose } from "../dom";
import { formatRoute } from "../route";
import { pathOf } from "../timeline/describe";
import { count, plural, ranges, seconds, size } from "../units";
import { whoOf } from "../who";
import { hasCalls, type Context, type View } from "./context";

const SEVERITIES = ["high", "medium", "low"] as const;
const MOST_FILES = 5;

/** The worst first: by severity, then by the time it cost. */
export function byWeight(findings: readonly Finding[]): Finding[] {
    const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
    return [...findings].sort((a, b) => rank(a) - rank(b) || (b.seconds_lost ?? 0) - (a.seconds_lost ?? 0));
}

export function findingsView(context: Context): View {
    const findings = byWeight(context.document.findings);
    const element = h(
        "div",
        {},
        h("h2", {}, findings.length ? plural(findings.length, "finding") : "No findings"),
        findings.length
            ? h(
                  "ol",
                  { class: "findings" },
                  ...findings.map((finding) => h("li", {}, findingCard(context, finding, true))),
              )
            : noFindings(context),
    );
    let shown: string | undefined;
    return {
        element,
        state: () => (shown === undefined ? {} : { finding: shown }),
        enter: ({ finding }) => {
            shown = finding;
            if (finding)
                element.querySelector(`[data-finding="${CSS.escape(finding)}"]`)?.scrollIntoView({ block: "start" });
        },
    };
}

export function noFindings({ document }: Context): HTMLElement {
    const where = document.run.counters_only ? "in what was counted of this run" : "in this run";
    return nothing(`Nothing that Halcyon knows to look for was found ${where}.`);
}

/** `anchor`: the card is where links to the finding lead. */
export function findingCard(context: Context, finding: Finding, anchor = false): HTMLElement {
    const lost =
        finding.seconds_lost === null ? null : `about ${seconds(finding.seconds_lost)} lost, over all processes`;
    const figures = [
        finding.calls === null ? null : plural(finding.calls, "call"),
        finding.bytes === null ? null : size(finding.bytes),
    ].filter((figure) => figure !== null);
    return h(
        "article",
        { class: `finding ${finding.severity}`, "data-finding": anchor && finding.key },
        h("h3", {}, h("span", { class: "severity" }, finding.severity), " ", prose(finding.title)),
        h("p", { class: "figures" }, [lost, ...figures].filter(Boolean).join(" · ")),
        h("p", {}, prose(finding.explanation)),
        h("p", { class: "change" }, h("strong", {}, "Change: "), prose(finding.change)),
        finding.evidence.length || finding.estimate
            ? h(
                  "dl",
                  { class: "facts" },
                  ...finding.evidence.map(({ what, text }) =>
                      h("div", {}, h("dt", {}, what), h("dd", {}, prose(text))),
                  ),
                  finding.estimate
                      ? h("div", {}, h("dt", {}, "how the loss is estimated"), h("dd", {}, prose(finding.estimate)))
                      : null,
              )
            : null,
        places(context, finding),
    );
}

/** Links to the files, ranks and times that it concerns. */
function places(context: Context, finding: Finding): HTMLElement | null {
    const { files, ranks, when, worst } = finding;
    const span = when ? { from: when.start_s, to: when.end_s } : {};
    const links: HTMLElement[] = files.slice(0, MOST_FILES).map((file) => {
        const path = pathOf(context.document.files, file) ?? `file ${file}`;
        return h("a", { href: formatRoute({ tab: "files", file }), title: path }, path.split("/").pop() || path);
    });
    if (files.length > MOST_FILES) links.push(h("span", {}, `and ${count(files.length - MOST_FILES)} more files`));
    if (ranks.length) {
        const { one, many } = whoOf(context.document);
        const text = `${ranks.length === 1 ? one : many} ${ranges(ranks)}`;
        const href = formatRoute({ tab: "timeline", rank: ranks[0]!, ...span });
        links.push(hasCalls(context) ? h("a", { href }, text) : h("span", {}, text));
    }
    const where = {
        ...(files.length === 1 ? { file: files[0]! } : {}),
        ...(ranks.length ? { rank: ranks[0]! } : {}),
        ...span,
    };
    if (hasCalls(context) && Object.keys(where).length)
        links.push(
            h(
                "a",
                { href: formatRoute({ tab: "timeline", ...where }) },
                when ? `from ${seconds(when.start_s)} to ${seconds(when.end_s)}` : "on the timeline",
            ),
        );
    else if (when) links.push(h("span", {}, `from ${seconds(when.start_s)} to ${seconds(when.end_s)}`));
    if (hasCalls(context) && worst)
        links.push(
            h(
                "a",
                {
                    href: formatRoute({
                        tab: "timeline",
                        from: worst.start_s,
                        to: worst.end_s,
                        ...(worst.file !== null ? { file: worst.file } : {}),
                        ...(ranks.length ? { rank: ranks[0]! } : {}),
                    }),
                    class: "worst",
                },
                `worst at ${seconds(worst.start_s)}`,
            ),
        );
    return links.length
        ? h("p", { class: "places" }, ...links.flatMap((link, i) => (i ? [" · ", link] : [link])))
        : null;
}
