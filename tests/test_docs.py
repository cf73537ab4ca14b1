"""Every Python block of the README and the documentation runs, and prints what is printed there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and "auto_examples" not in page.parts]
#: A block, and the text block that directly follows it, if any.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def test_the_pages_are_there():
    assert {"quickstart.md", "ideas.md", "certificates.md", "comparison.md"} <= {
        page.name for page in PAGES
    }


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.stem)
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)  # some save files
    names = {"__name__": "__main__"}
    for code, expected in blocks(page):
        exec(compile(code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if expected:
            assert printed.split() == expected.split(), printed
    plt.close("all")


def test_images_exist():
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page, target)


CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)


def console_lines():
    """The commands shown, as (page, words)."""
    for page in PAGES:
        for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                if line.startswith("$ "):
                    yield page, shlex.split(line[2:], comments=True)


def test_commands_shown_exist_with_their_options():
    """Make targets are in the Makefile; each command of ours knows the options it is shown with."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    shown = list(console_lines())
    assert shown
    for page, words in shown:
        if words[0] == "make":
            assert words[1] in targets, (page, words)
        elif words[0] == "pertinent":
            command = [word for word in words[1:2] if not word.startswith("-")]
            answer = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    "from pertinent.cli import main; main()",
                    *command,
                    "--help",
                ],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
            )
            for option in (word for word in words if word.startswith("--")):
                assert option in answer.stdout, (page, words, option)
        else:
            assert words[0] == "pip", (page, words)
