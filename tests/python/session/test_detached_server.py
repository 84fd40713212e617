"""`close: detach`: the simulation has gone, its server still stores."""

from running import BUILDS, Case, check_complete, is_gone, wait_for


def gated(case: Case) -> str:
    return (
        "events:\n  each: {actions: [hold], scope: node}\nactions:\n"
        f"  hold: {{type: module, module: {BUILDS[case.mpi] / 'tests/libgated_action.so'}, function: gated_action, "
        f"options: {{until: {case.directory / 'go'}}}}}"
    )


def test_a_detached_server_keeps_its_directory_until_it_is_done(openmpi_case: Case) -> None:
    openmpi_case.configure(top="close: detach", store=", existing: replace", events=gated(openmpi_case))
    outcome = openmpi_case.run("iterations=3", "signal=each")
    assert outcome.status == 0, outcome.text
    server = openmpi_case.server_process()
    assert not is_gone(server), "the server was done before the simulation"
    second = openmpi_case.run("iterations=2")
    assert second.status != 0
    assert "is in use by another session" in second.ranks[0]["open"]
    assert "its server has stored everything" in second.ranks[0]["open"]
    assert openmpi_case.server_process() == server
    (openmpi_case.directory / "go").touch()
    wait_for(lambda: is_gone(server), what="the server exits")
    check_complete(openmpi_case, 3)
    assert openmpi_case.counts()["finished"]
    third = openmpi_case.run("iterations=2")
    assert third.status == 0, third.text
    assert len(list(openmpi_case.output.glob("tiny.n0000.*.h5"))) == 2, "what was there was replaced"


def test_sessions_that_are_closed_leave_the_directory_at_once(case: Case) -> None:
    case.configure(store=", existing: replace", resources="  servers-per-node: 2")
    outcome = case.run("iterations=2", "sessions_before=20")
    assert outcome.status == 0, outcome.text
