"""`halcyon slurm install` and `check`, on configurations of a test's own; no Slurm is needed."""

from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.errors import UnavailableError
from halcyon.slurm.announce import Job
from halcyon.slurm.installation import MARK, find_halcyon, find_plugin


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    try:
        find_plugin()
        find_halcyon()
    except UnavailableError as why:
        pytest.skip(str(why))
    monkeypatch.setenv("HALCYON_COORDINATORS_FILE", str(tmp_path / "coordinators.yaml"))


@pytest.fixture
def conf(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """slurm.conf with the lines that `install` prints."""
    assert main(["slurm", "install", str(tmp_path / "made")]) == 0
    lines = [line.strip() for line in capfd.readouterr().out.splitlines() if line.startswith("  ")]
    assert [line.partition("=")[0] for line in lines] == ["Prolog", "Epilog", "PlugStackConfig"]
    file = tmp_path / "slurm.conf"
    file.write_text("ClusterName=x # a comment\n" + "\n".join(lines) + "\n")
    return file


def said(conf: Path, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Lines of `check`, without that of coordinators.yaml."""
    status = main(["slurm", "check", "--conf", str(conf)])
    *lines, last = capfd.readouterr().out.splitlines()
    assert status == 1
    assert last.startswith(f"missing: {conf.parent / 'coordinators.yaml'}: no such file: jobs find no coordinator")
    return lines


def test_what_install_wrote_is_in_order(conf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = conf.parent / "made"
    assert said(conf, capfd) == [
        f"ok: {made}/plugstack.conf: srun has the option --halcyon",
        f"ok: {made}/prolog: tells the coordinators of jobs",
        f"ok: {made}/epilog: tells the coordinators of jobs",
    ]


def test_an_empty_configuration_lacks_everything(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=x\n")
    plug_stack, prolog, epilog = said(conf, capfd)
    assert plug_stack.startswith(f"missing: {tmp_path}/plugstack.conf: no such file, so that srun has no --halcyon; ")
    assert prolog.startswith(f"missing: {conf}: no Prolog, so that names of jobs can be claimed by others; add Prolog=")
    assert epilog.startswith(f"missing: {conf}: no Epilog, so that jobs that were killed keep their turns; add Epilog=")


def test_included_files_and_scripts_that_call_ours_count(conf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = conf.parent / "made"
    site = conf.parent / "site-prolog"
    site.write_text(f"#!/bin/sh\n{made}/halcyon slurm prolog\n")
    site.chmod(0o755)
    (conf.parent / "plugstack.conf").write_text(f"include {made}/plug*.conf\n")
    (conf.parent / "scripts.conf").write_text(f"PROLOGSLURMCTLD={site}\nepilog={made}/epilog\n")
    conf.write_text("Include scripts.conf\n")
    assert [line.partition(":")[0] for line in said(conf, capfd)] == ["ok", "ok", "ok"]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("plugstack.conf", "optional", "required", "the plugin is 'required'; make it 'optional'"),
        ("plugstack.conf", "halcyon_slurm.so", "other.so", "without the plugin, so that srun has no --halcyon; add to"),
        ("plugstack.conf", "optional /", "optional /nowhere/", "no such file; build where slurm/spank.h is"),
        ("plugstack.conf", "program=/", "program=/nowhere/", "no such program; run `halcyon slurm install` again"),
        ("prolog", "slurm prolog", "slurm", "prolog: does not call Halcyon's, so that names of jobs can be claimed"),
        ("epilog", "slurm epilog", "slurm", "epilog: does not call Halcyon's, so that jobs that were killed keep"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(
    conf: Path, capfd: pytest.CaptureFixture[str], file: str, old: str, new: str, message: str
) -> None:
    path = conf.parent / "made" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    [missing] = [line for line in said(conf, capfd) if line.startswith("missing: ")]
    assert message in missing


def test_a_script_that_is_gone_or_not_executable_is_said(conf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = conf.parent / "made"
    (made / "prolog").chmod(0o644)
    (made / "epilog").unlink()
    missing = [line for line in said(conf, capfd) if line.startswith("missing: ")]
    assert missing[0] == f"missing: {made}/prolog: not executable; chmod 755 {made}/prolog"
    assert missing[1].startswith(f"missing: {made}/epilog: no such file, so that jobs that were killed keep their")


def test_files_of_others_are_not_replaced(conf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = conf.parent / "made"
    assert main(["slurm", "install", str(made)]) == 0
    (made / "epilog").write_text("#!/bin/sh\n")
    assert main(["slurm", "install", str(made)]) == 2
    assert f"{made}/epilog: exists, and was not made by halcyon slurm install" in capfd.readouterr().err
    assert (made / "epilog").read_text() == "#!/bin/sh\n"
    assert MARK in (made / "prolog").read_text()


def test_a_configuration_that_is_not_there_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["slurm", "check", "--conf", str(tmp_path / "none")]) == 1
    first, *_ = capfd.readouterr().out.splitlines()
    assert first == f"missing: {tmp_path}/none: no such file; name Slurm's configuration: --conf FILE, or SLURM_CONF"


def test_srun_and_check_read_the_coordinators_that_install_was_given(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALCYON_AGENT", "/bin/true")
    named, users = tmp_path / "site.yaml", tmp_path / "coordinators.yaml"
    named.write_text("halcyon: 1\ncoordinators:\n  named: {paths: [/named], address: 'unix:@nobody'}\n")
    made = tmp_path / "made"
    assert main(["slurm", "install", str(made), "--coordinators", str(named)]) == 0
    assert (made / "plugstack.conf").read_text().endswith(f" coordinators={named}\n")
    conf = tmp_path / "slurm.conf"
    conf.write_text(f"Prolog={made}/prolog\nEpilog={made}/epilog\nPlugStackConfig={made}/plugstack.conf\n")
    capfd.readouterr()
    assert main(["slurm", "check", "--conf", str(conf)]) == 1
    assert "missing: named: no coordinator at unix:@nobody" in capfd.readouterr().out

    prepare = ["slurm", "prepare", "--layers", "coordinate", "--coordinators", str(named), "-o", str(tmp_path / "run")]
    monkeypatch.delenv("HALCYON_COORDINATORS_FILE")
    assert main([*prepare, "--", "true"]) == 0
    assert "\0HALCYON_COORDINATORS=/named=unix:@nobody\0" in capfd.readouterr().out
    monkeypatch.setenv("HALCYON_COORDINATORS_FILE", str(users))
    assert main([*prepare[:-1], str(tmp_path / "other"), "--", "true"]) == 1
    said = capfd.readouterr().err
    assert f"{users}: no such file, so that no coordinator is known; name one: HALCYON_COORDINATORS_FILE, or" in said
    assert "--coordinator PATH" not in said, "srun has no such option"


def test_a_path_that_plugstack_cannot_name_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["slurm", "install", str(tmp_path / "made"), "--coordinators", "/etc/a b.yaml"]) == 2
    assert "--coordinators /etc/a b.yaml: plugstack.conf cannot name a path with spaces" in capfd.readouterr().err


def test_scripts_outside_of_slurm_say_so(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert main(["slurm", "prolog"]) == 2
    assert "SLURM_JOB_ID is ''" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("processors", "nodes", "size"),
    [("4(x2)", "2", (8, 2)), ("72(x2),36", "3", (180, 3)), ("8", "1", (8, 1)), ("", "", (0, 0)), ("8(x", "?", (0, 0))],
)
def test_the_size_of_a_job_is_as_slurm_says(processors: str, nodes: str, size: tuple[int, int]) -> None:
    told = {"SLURM_JOB_CPUS_PER_NODE": processors, "SLURM_JOB_NUM_NODES": nodes}
    job = Job.of_script({"SLURM_JOB_ID": "12", "SLURM_JOB_UID": "1000"} | told)
    assert (job.name, job.user) == ("slurm-12", 1000)
    assert (job.processors, job.nodes) == size
