import matplotlib

matplotlib.use("Agg")

import json

from PIL import Image

from pertinent import Explanation
from pertinent.demo import main


def test_demo(tmp_path):
    said = []
    paths = main(tmp_path / "demo", say=said.append)
    words = "\n".join(said)
    assert "The model predicts “refused” for this applicant" in words
    assert "What would have changed it" in words
    assert "1,039 applicants explained" in words
    boosted = " ".join(words.split("a boosted model")[1].split())
    assert "Proved smallest: no smaller change that the rules allow does." in boosted
    assert "Checked again, without a solver: holds" in boosted
    for path in paths:
        assert str(path) in words
        assert path.stat().st_size > 1000
    report, picture, population, stored = paths
    assert report.stat().st_size < 2_000_000
    for image in (picture, population):
        assert min(Image.open(image).size) > 300
    assert json.loads(stored.read_text(encoding="utf-8"))["summary"]["prediction"] == "refused"
    assert Explanation.from_json(stored).text() == Explanation.from_json(str(stored)).text()
