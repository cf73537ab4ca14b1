"""The code of the guide runs as printed."""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "lvq_estimators.md"


def test_code_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)  # it saves a picture
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 4
    exec("\n".join(blocks), {})
    plt.close("all")
    printed = capsys.readouterr().out
    correct = re.search(r"(\d+)% correct", printed)
    assert correct is not None
    assert int(correct[1]) >= 93
    assert "proline" in printed
    assert (tmp_path / "relevances.png").stat().st_size > 1000
