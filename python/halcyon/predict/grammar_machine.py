"""A grammar, for machines."""

from typing import Any

from halcyon.predict.learnt import Learnt, Run
from halcyon.predict.rule_costs import rule_costs
from halcyon.printed.plain import as_json, plain


def as_machine(learnt: Learnt) -> str:
    """Everything as JSON: rules with what one use of each costs, call sites, transitions, phases."""
    costs = rule_costs(learnt)
    told = plain(learnt)
    told["rules"] = [
        {
            "name": rule.name,
            "uses": rule.uses,
            "body": [_run(learnt, run) for run in rule.body],
            **{name: plain(value) for name, value in vars(costs[rule.number]).items()},
        }
        for rule in learnt.rules
    ]
    return as_json(told)


def _run(learnt: Learnt, run: Run) -> dict[str, Any]:
    what: dict[str, Any] = {"rule": learnt.rule[run.number].name} if run.rule else {"symbol": run.number}
    what["times"] = run.exponent
    if run.least is not None:
        what |= {"least": run.least, "most": run.most}
    return what
