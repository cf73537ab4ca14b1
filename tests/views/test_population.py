import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from pertinent.views.layout import CHANGE, ENOUGH


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_counts_are_those_of_the_answers(applicants):
    population = applicants.summary()
    assert population["n"] == len(applicants)
    assert sum(c["count"] for c in population["classes"]) == len(applicants)
    changed = np.sum(population["changed"], axis=0)
    assert changed.tolist() == applicants.negative.changed.sum(axis=0).tolist()
    assert np.sum(population["contrast"]) == applicants.negative.found.sum()
    assert population["overlap"] == np.bincount(applicants.overlap).tolist()
    assert sum(population["distance"]["counts"]) == applicants.negative.found.sum()


def test_infeasible_share_and_why(impossible):
    population = impossible.summary()
    assert population["negative"]["status"]["infeasible"] == 4
    assert "stay as they are" in population["negative"]["reasons"][0]["reason"]
    words = impossible.text()
    assert "For 100% it is proved that nothing would change it" in words
    # What has no answer is no answer that lacks a proof.
    assert "Proved smallest: 100% of what was enough." in words


def test_text_names_features_and_classes(applicants):
    words = applicants.text()
    assert words.startswith("40 applicants explained")
    assert "“refused”" in words
    assert words == applicants.text()


def test_plot_summary_axes(applicants, digits, impossible):
    for result in (applicants, digits, impossible):
        figure = result.plot_summary()
        figure.canvas.draw()
        titles = [ax.get_title() for ax in figure.axes]
        assert {"Outcome", "From class to contrast class", "How many features"} <= set(titles)


def test_plot_has_a_strip_for_each_feature_that_matters(applicants):
    explanation = applicants[4]
    ax = explanation.plot()
    ax.figure.canvas.draw()
    summary = explanation.summary()
    used = {v["feature"] for part in ("positive", "negative") for v in summary[part]["values"]}
    assert len(ax.get_yticklabels()) == len(used)
    assert ENOUGH in {line.get_color() for line in ax.lines}
    assert CHANGE in {t.get_color() for t in ax.texts}
    assert "refused" in ax.get_title(loc="left")


def test_plot_on_given_axes(applicants, impossible):
    _, ax = plt.subplots()
    assert applicants[0].plot(ax) is ax
    impossible[0].plot().figure.canvas.draw()


def test_plot_image(digits):
    axes = digits[0].plot(image_shape=(8, 8))
    axes[0].figure.canvas.draw()
    assert [len(ax.images) for ax in axes] == [1, 1, 1]
    with pytest.raises(ValueError, match="has 49 values, and there are 64 features"):
        digits[0].plot(image_shape=(7, 7))


def test_counts_have_no_fractions(digits):
    """A few samples: no half of one on an axis."""
    figure = digits.plot_summary()
    titles = ("Size of the smallest change", "How many features")
    axes = [ax for ax in figure.axes if ax.get_title() in titles]
    assert len(axes) == 2
    for ax in axes:
        assert all(float(tick).is_integer() for tick in ax.get_yticks())


def test_a_plot_says_that_nothing_would_change_it_and_draws_no_arrow_for_it(impossible, applicants):
    ax = impossible[0].plot()
    assert "proved: nothing that the rules allow would change it" in ax.get_title(loc="left")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "was enough" in labels
    assert "would change it" not in labels
    drawn = [text.get_text() for text in applicants[0].plot().get_legend().get_texts()]
    assert "would change it" in drawn


def test_features_that_never_occur_take_no_room(applicants):
    population = applicants.summary()
    total = np.sum(population["kept"], axis=0) + np.sum(population["changed"], axis=0)
    shown = [label.get_text() for label in applicants.plot_summary().axes[0].get_yticklabels()]
    texts = [feature["text"] for feature in population["features"]]
    assert set(shown) <= {text for text, count in zip(texts, total, strict=True) if count}
    assert shown
