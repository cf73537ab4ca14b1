import hashlib
import os
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from pertinent.datasets import load_ames, load_credit
from pertinent.exceptions import InputError, MissingExtraError

PAPER_FEATURES = [
    "basement_area",
    "first_floor_area",
    "second_floor_area",
    "living_area",
    "deck_area",
    "open_porch_area",
    "three_season_porch_area",
    "screen_porch_area",
    "pool_area",
]

MISSING_IN_CREDIT = {"home": 6, "marital": 1, "job": 2, "income": 381, "assets": 47, "debt": 18}


def is_missing(column):
    return np.array([value != value for value in column])


@pytest.mark.parametrize(
    ("file", "digest"),
    [
        ("ames.csv", "a2a368bd092deea6d9e1d5ccba4b668d28bc44c5b1178c015628c830782522fc"),
        ("credit.csv", "1909b7fdb6224c09f4a5e141fa178a025399ff1c73a810c6a6683404f21eb54a"),
    ],
)
def test_the_files_are_the_converted_ones(file, digest):
    # read_text: the same whatever line ends a checkout uses.
    text = (files("pertinent.datasets") / "data" / file).read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == digest


class TestAmes:
    def test_default_is_the_papers_problem(self):
        ames = load_ames()
        assert len(ames) == 2930
        assert ames.feature_names == PAPER_FEATURES
        assert ames.X.shape == (2930, 9)
        assert ames.X.dtype == np.float64
        assert set(ames.target) == {0, 1}
        assert ames.target.sum() == 1486

    def test_target_is_at_least_not_above(self):
        prices = load_ames(binary_at=None).target
        assert np.count_nonzero(prices == 160_000) == 23
        np.testing.assert_array_equal(load_ames().target, prices >= 160_000)

    def test_numbers_are_whole_complete_and_not_negative(self):
        ames = load_ames(binary_at=None, features="all")
        assert len(ames.feature_names) == 16
        assert ames.feature_names[:9] == PAPER_FEATURES
        for column in [*ames.columns.values(), ames.target]:
            assert column.dtype == np.int64
            assert column.min() >= 0

    def test_first_house(self):
        ames = load_ames(binary_at=None)
        assert ames.X[0].tolist() == [1080, 1656, 0, 1656, 210, 62, 0, 0, 0]
        assert ames.target[0] == 215_000

    def test_living_area_is_at_least_the_two_floors(self):
        columns = load_ames().columns
        floors = columns["first_floor_area"] + columns["second_floor_area"]
        assert np.all(columns["living_area"] >= floors)
        assert np.mean(columns["living_area"] == floors) == pytest.approx(0.986, abs=5e-4)

    @pytest.mark.parametrize("price", [12_789, 755_001, -1, float("nan"), "160k"])
    def test_one_class_is_refused(self, price):
        with pytest.raises(InputError, match=r"'binary_at'.*\(12789, 755000\].*Got"):
            load_ames(binary_at=price)

    def test_unknown_features_are_refused(self):
        with pytest.raises(InputError, match="must be 'paper' or 'all'. Got 'most' instead"):
            load_ames(features="most")


class TestCredit:
    def test_rows_classes_and_kinds(self):
        credit = load_credit()
        assert len(credit) == 4454
        assert credit.target.dtype.kind == "U"
        labels, counts = np.unique(credit.target, return_counts=True)
        assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {
            "bad": 1254,
            "good": 3200,
        }
        assert credit.categorical_names == ["home", "marital", "records", "job"]
        for name in credit.numeric_names:
            floats = name in MISSING_IN_CREDIT
            assert credit.columns[name].dtype == (np.float64 if floats else np.int64)

    def test_categories(self):
        columns = load_credit(drop_missing=True).columns
        assert set(columns["home"]) == {"ignore", "other", "owner", "parents", "private", "rent"}
        assert set(columns["marital"]) == {
            "divorced",
            "married",
            "separated",
            "single",
            "widowed",
        }
        assert set(columns["records"]) == {"no", "yes"}
        assert set(columns["job"]) == {"fixed", "freelance", "other", "part-time"}

    def test_missing_values_are_where_documented(self):
        columns = load_credit().columns
        missing = {name: int(is_missing(column).sum()) for name, column in columns.items()}
        assert {name: count for name, count in missing.items() if count} == MISSING_IN_CREDIT

    def test_drop_missing_drops_just_the_incomplete_rows(self):
        full, complete = load_credit(), load_credit(drop_missing=True)
        keep = ~np.any([is_missing(column) for column in full.columns.values()], axis=0)
        assert len(complete) == keep.sum() == 4039
        np.testing.assert_array_equal(complete.target, full.target[keep])
        for name, column in complete.columns.items():
            np.testing.assert_array_equal(column, full.columns[name][keep])
            assert column.dtype == full.columns[name].dtype

    def test_numbers_are_whole_and_in_a_sensible_range(self):
        columns = load_credit(drop_missing=True).columns
        for column in columns.values():
            if column.dtype != object:
                assert np.all(column >= 0)
                assert np.all(column == np.round(column))
        assert set(columns["time"]) == {*range(6, 61, 6), 72}
        assert (columns["age"].min(), columns["age"].max()) == (18, 68)

    def test_categories_do_not_fit_an_array(self):
        with pytest.raises(InputError, match=r"home, marital, records, job.*Use 'frame'"):
            _ = load_credit().X


class TestFrame:
    def test_frame_has_the_columns(self):
        pd = pytest.importorskip("pandas")
        credit = load_credit()
        frame = credit.frame
        assert list(frame.columns) == credit.feature_names
        assert frame.isna().sum().sum() == sum(MISSING_IN_CREDIT.values())
        assert pd.api.types.is_integer_dtype(frame["time"])
        assert frame["job"].iloc[0] == "freelance"

    def test_frame_is_a_copy(self):
        pytest.importorskip("pandas")
        ames = load_ames()
        frame = ames.frame
        frame.loc[0, "living_area"] = 0
        assert ames.columns["living_area"][0] == 1656

    def test_frame_feeds_scikit_learn(self):
        pytest.importorskip("pandas")
        from sklearn.compose import make_column_transformer
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        credit = load_credit()
        categories = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        model = make_pipeline(
            make_column_transformer(
                (categories, credit.categorical_names), (numbers, credit.numeric_names)
            ),
            LogisticRegression(),
        )
        assert model.fit(credit.frame, credit.target).score(credit.frame, credit.target) > 0.79

    def test_without_pandas_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtraError, match=r"pip install .pertinent\[pandas\]"):
            _ = load_ames().frame

    def test_loading_does_not_import_pandas(self):
        # scikit-learn and others may import it for their own reasons: look at the loader alone.
        code = (
            "import sys; sys.modules['pandas'] = None; "
            "from pertinent.datasets import load_ames, load_credit; "
            "print(len(load_ames()), len(load_credit()))"
        )
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert run.stdout.split() == ["2930", "4454"]


@pytest.mark.parametrize("load", [load_ames, load_credit])
def test_description_states_source_and_licence_and_every_column(load):
    data = load()
    assert "**Source.**" in data.description
    assert "MIT" in data.description
    for name in data.feature_names:
        assert f"`{name}`" in data.description
