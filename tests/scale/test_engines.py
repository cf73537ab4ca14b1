"""Each engine on a local cluster: the same bytes as one process."""

from __future__ import annotations

import sys

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.exceptions import MissingExtraError
from pertinent.scale import explain_batches, explain_dask, explain_ray, explain_spark

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    frame = load_breast_cancer(as_frame=True).data.head(240).copy()
    frame.iloc[5, 3] = float("nan")
    return frame.assign(key=range(len(frame)))


@pytest.fixture(scope="module")
def explainer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    return pertinent.Explainer(model, data=X)


@pytest.fixture(scope="module")
def expected(explainer, frame):
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_batches()
    return pa.Table.from_batches(explain_batches(explainer, batches, keep=["key"]))


def test_dask(explainer, frame, expected):
    dd = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster),
    ):
        lazy = explain_dask(explainer, dd.from_pandas(frame, npartitions=5), keep=["key"])
        assert lazy.npartitions == 5
        found = lazy.compute()
    assert found.index.equals(frame.index)
    assert (found.dtypes == lazy._meta.dtypes).all()
    assert pa.Table.from_pandas(found, preserve_index=False).cast(expected.schema).equals(expected)


@pytest.mark.engines
def test_ray(explainer, frame, expected):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False)
    try:
        data = ray.data.from_pandas(frame).repartition(4)
        found = explain_ray(explainer, data, keep=["key"], batch_size=50)
        tables = ray.get(found.to_arrow_refs())
    finally:
        ray.shutdown()
    whole = pa.concat_tables(tables).sort_by("key")
    assert whole.cast(expected.schema).equals(expected)


@pytest.mark.engines
def test_spark(explainer, frame, expected, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        data = spark.createDataFrame(frame).repartition(4)
        found = explain_spark(explainer, data, keep=["key"]).toArrow()
    finally:
        spark.stop()
    assert found.sort_by("key").cast(expected.schema).equals(expected)


@pytest.mark.parametrize(
    ("explain", "package", "extra"),
    [
        (explain_dask, "dask.dataframe", "dask"),
        (explain_ray, "ray", "ray"),
        (explain_spark, "pyspark.sql.pandas.types", "spark"),
    ],
)
def test_a_missing_engine_names_its_extra(explainer, frame, monkeypatch, explain, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pertinent\[{extra}\]"):
        explain(explainer, frame)
