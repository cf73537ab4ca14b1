"""Every code block of the README and the documentation runs, and prints what is printed there.

The blocks of a page run in its order, in one folder, so that a command finds the files that an
earlier block wrote. Python blocks run in one namespace. Commands of ours (``pertinent ...``,
``python -m ...``) run with the words shown, must succeed, and must print the lines shown below them
(``...`` stands for any lines). Two kinds of commands would set up environments or take minutes, and
are looked up instead: a ``make`` target must be in the Makefile (CI itself is ``make test``; the
demo behind ``make demo`` runs in ``test_demo.py``, the protocol behind ``make paper`` in
``experiments/test_paper.py``), and ``pip install`` must name this package with extras it has.
"""

import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from typer.testing import CliRunner

from pertinent.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and "auto_examples" not in page.parts]
#: A block, and the text block that directly follows it, if any.
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)
FENCE = re.compile(r"^```(\S+)", re.M)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(block):
    """Return each command of a console block with the lines shown below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line[2:], comments=True), []))
        else:
            found[-1][1].append(line)
    return [(words, "\n".join(lines)) for words, lines in found]


def matches(printed, shown):
    """Return whether the words are the same, where ``...`` stands for any number of them."""
    parts = [re.escape(" ".join(part.split())) for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    return re.fullmatch(" ?.* ?".join(parts), " ".join(printed.split())) is not None


def run_ours(words):
    """Return what a command of ours printed."""
    if words[0] == "pertinent":
        answer = CliRunner().invoke(app, words[1:], prog_name="pertinent")
        assert answer.exit_code == 0, (words, answer.output)
        return answer.output
    assert words[:2] == ["python", "-m"], words
    answer = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True)
    assert answer.returncode == 0, (words, answer.stderr)
    return answer.stdout


def look_up(words):
    """Check a command that is not ours to run."""
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
        assert words[1] in targets, words
    else:
        assert words[:2] == ["pip", "install"], words
        name, extras = re.fullmatch(r"(\w+|\.)(?:\[([\w,]+)\])?", words[2]).groups()
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert name in (project["name"], "."), words  # a clone is installed from its own folder
        asked = set(extras.split(",")) if extras else set()
        assert asked <= set(project["optional-dependencies"]), words


def run_console(block):
    for words, shown in commands(block):
        if words[0] in ("make", "pip"):
            look_up(words)
            assert not shown, words
            continue
        printed = run_ours(words)
        if shown.strip():
            assert matches(printed, shown), printed


def test_the_pages_are_there():
    assert {"quickstart.md", "ideas.md", "certificates.md", "comparison.md"} <= {
        page.name for page in PAGES
    }


def test_no_block_escapes():
    """Code is in python or console blocks; text blocks show output or formulas only."""
    for page in PAGES:
        for kind in FENCE.findall(page.read_text(encoding="utf-8")):
            assert kind in ("python", "console", "text") or kind.startswith("{"), (page, kind)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.stem)
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)  # some save files
    names = {"__name__": "__main__"}
    for kind, code, expected in blocks(page):
        if kind == "console":
            run_console(code)
            continue
        exec(compile(code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if expected:
            assert printed.split() == expected.split(), printed
    plt.close("all")


def test_output_that_differs_is_noticed():
    assert matches("a b\nc  d", "a b\nc d")
    assert matches("a b c d", "a\n...\nd")
    assert not matches("a b c d", "a\n...\nc")
    assert not matches("a b", "a c")


def test_commands_that_do_not_exist_are_noticed():
    with pytest.raises(AssertionError):
        look_up(["make", "coffee"])
    with pytest.raises(AssertionError):
        look_up(["pip", "install", "pertinent[coffee]"])
    with pytest.raises(AssertionError, match="coffee"):
        run_ours(["pertinent", "coffee"])


def test_images_exist():
    """Or a block of the page makes them when the documentation is built."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            if target.startswith(f"_run/{page.stem}/"):
                assert f'"{Path(target).name}"' in text, (page, target)
            else:
                assert (page.parent / target).is_file(), (page, target)


def test_every_word_on_another_library_has_a_source():
    """Each cell links to a file at a version, or says that nothing is documented."""
    text = (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    links = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", text, re.M))
    table = text[text.index("| | alibi") : text.index('"Not documented"')]
    for line in table.strip().splitlines()[2:]:
        for cell in line.strip("| ").split(" | ")[1:]:
            if not cell.endswith("not documented"):
                target = links[re.fullmatch(r"\[.+\]\[([\w-]+)\]", cell)[1]]
                assert re.match(r"https://github.com/\S+/blob/(v\d|[0-9a-f]{7})", target), target


#: Packages whose names a user imports; those of `pertinent` itself come first.
PUBLIC = ["", "checking.", "client.", "datasets.", "lvq.", "scale.", "server."]


def api_names():
    return re.findall(r"^   ([A-Za-z_][\w.]*)$", (ROOT / "docs/api.rst").read_text(), re.M)


@pytest.mark.parametrize("package", PUBLIC, ids=lambda package: package or "pertinent")
def test_every_public_name_is_on_the_api_page(package):
    module = import_module(f"pertinent.{package}".rstrip("."))
    public = {name for name in module.__all__ if not name.isupper() or package == "lvq."}
    known = {name.rpartition(".")[2] for name in api_names()}
    assert public <= known, public - known


def test_every_error_that_a_user_may_meet_is_on_the_api_page():
    """Those that only a module of ours catches stay inside."""
    inside = {"ContradictionError", "Refusal"}
    found = {
        name
        for path in (ROOT / "src/pertinent").rglob("*.py")
        for name in re.findall(r"^class (\w+)\(.*(?:Error|Warning)\):", path.read_text(), re.M)
    }
    assert inside < found
    assert found - inside <= {name.rpartition(".")[2] for name in api_names()}


@pytest.mark.parametrize("name", api_names())
def test_names_of_the_api_page_exist_and_have_not_moved(name):
    home, _, own = f"pertinent.{name}".rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        assert getattr(import_module(home), own).__doc__


def test_a_first_page_shows_code():
    for page in (ROOT / "README.md", ROOT / "docs/index.md"):
        kinds = [kind for kind, _, _ in blocks(page)]
        assert kinds[0] == "python", page
        assert 'pip install ".[' in page.read_text(encoding="utf-8"), page


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem
)
def test_every_example_runs_and_draws_a_picture(example):
    """The gallery shows its first picture as a thumbnail."""
    matplotlib.use("Agg")
    plt.close("all")
    subject = {"__name__": "__main__"}
    exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), subject)
    assert plt.get_fignums()
    plt.close("all")
