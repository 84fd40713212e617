"""What the view cannot show as the configuration means it is said where a user looks."""

from running import Case

MESH = """\
    c: {layout: turned}
    b: {layout: turned}
    a: {layout: turned}
  meshes:
    skin: {type: curvilinear, coordinates: [c, b, a]}"""


def test_a_mesh_that_does_not_fit_is_in_the_messages_of_the_run_once(openmpi_case: Case) -> None:
    openmpi_case.ranks = 1
    openmpi_case.configure(attributes=", mesh: skin", events=MESH)
    configuration = openmpi_case.directory / "halcyon.yaml"
    text = configuration.read_text().replace(
        "  places:\n", "    turned: {type: float32, dimensions: [nz, nx, ny]}\n  places:\n"
    )
    for approach in ("", "inline: true\n"):
        configuration.write_text(approach + text.replace("path: out", "path: out, existing: replace"))
        assert openmpi_case.run("iterations=3", "variables=theta,a,b,c").status == 0
        said = openmpi_case.counts("c00000" if approach else "n0000")["messages"]
        assert [m.split(" nodes")[0] for m in said if "mesh" in m] == [
            "view: variable 'theta' has the shape 4 x 8 x 16, but mesh 'skin' has 4 x 16 x 8"
        ]
