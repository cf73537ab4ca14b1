"""Nothing is unpickled but behind the switch that allows it."""

import pickle
import subprocess
import sys

import numpy as np
import skops.io
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

#: Loads each model, explains, checks, reads back; prints how many classes pickles asked for so far.
CODE = """
import sys
from pathlib import Path
import skops.io  # imports dask where it is installed, which copies objects of its own by pickle
found = []
sys.addaudithook(lambda event, given: found.append(given) if event == "pickle.find_class" else None)
import numpy as np
import pertinent
from pertinent.cli.app import app
from pertinent.models.files import load_model
from typer.testing import CliRunner

X = np.random.default_rng(0).normal(size=(40, 2))
rows = Path(sys.argv[1]).parent / "rows.csv"
rows.write_text("x0,x1\\n0.1,0.2\\n")
for path in sys.argv[1:]:
    model = load_model(path, allow_pickle=path.endswith(".pkl"))
    stored = pertinent.Explainer(model, data=X).explain(X[:2])[0].json()
    assert pertinent.check(stored, model).ok
    pertinent.Explanation.from_json(stored).html()
    if path.endswith(".skops"):
        for command in (["explain", path, str(rows)], ["models"]):
            assert CliRunner().invoke(app, command).exit_code == 0
    print(len(found))
"""


def classes_unpickled(*paths):
    command = [sys.executable, "-W", "ignore", "-c", CODE, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return [int(line) for line in done.stdout.split()]


def test_no_pickle_is_read_unless_it_is_allowed(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] > 0
    files = []
    for model in (
        KNeighborsClassifier(1, algorithm="kd_tree"),
        DecisionTreeClassifier(max_depth=3),
    ):
        files.append(tmp_path / f"{type(model).__name__}.skops")
        skops.io.dump(model.fit(X, y), files[-1])
    allowed = tmp_path / "model.pkl"
    allowed.write_bytes(pickle.dumps(DecisionTreeClassifier(max_depth=3).fit(X, y)))
    *none, some = classes_unpickled(*files, allowed)
    assert none == [0, 0]
    assert some > 0  # the hook sees them
