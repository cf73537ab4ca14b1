"""What holds over many samples, in words."""

from __future__ import annotations

from pertinent.summary.summary import Summary
from pertinent.summary.words import FOUND, Said, counted, listed, percent


def population_text(population: Summary) -> str:
    """Return what holds over all samples, in words."""
    n = population["n"]
    if n == 0:
        return "There are no samples."
    parts = [f"{c['count']:,} predicted {c['text']}" for c in population["classes"] if c["count"]]
    lines = [f"{counted(n, population['subject'])} explained: {listed(parts)}."]
    lines += [_frequent(population, k) for k in range(len(population["classes"]))]
    lines += [_distance_words(population), _proof_words(population)]
    lines += _absent(population)
    return "\n".join(line for line in lines if line)


def _frequent(population: Summary, k: int) -> str:
    """Return what most often was enough, and what most often would have changed it."""
    chosen = population["classes"][k]
    if not chosen["count"]:
        return ""
    kept = _most(population, population["kept"][k], chosen["count"])
    changed = _most(population, population["changed"][k], chosen["count"])
    parts = []
    if kept:
        parts.append(f"most often enough: {kept}")
    if changed:
        parts.append(f"most often changed to leave it: {changed}")
    return f"Predicted {chosen['text']}: {'; '.join(parts)}." if parts else ""


def _most(population: Summary, counts: list[int], total: int, most: int = 3) -> str:
    ranked = sorted(range(len(counts)), key=lambda j: (-counts[j], j))[:most]
    names = population["features"]
    parts = [f"{names[j]['text']} ({percent(counts[j] / total)})" for j in ranked if counts[j]]
    return ", ".join(parts)


def _distance_words(population: Summary) -> str:
    quantiles = dict(population["distance"]["quantiles"])
    if not quantiles:
        return ""
    found = "change that was found" if population.get("search") else "smallest change"
    changes = population["n_changed"]
    one = changes[1] / sum(changes) if len(changes) > 1 and sum(changes) else 0.0
    return (
        f"The {found} has a median size of {quantiles[0.5]:.3g} (90% are below "
        f"{quantiles[0.9]:.3g}); in {percent(one)} of the cases it changes a single feature."
    )


def _proof_words(population: Summary) -> str:
    """Return how many of the answers are proved smallest; what has none is another matter."""
    if population.get("search"):
        return f"{FOUND.capitalize()}: all answers are checked with the model; smaller ones may be."
    parts = []
    for name, words in (("positive", "what was enough"), ("negative", "what would change it")):
        status = population[name]["status"]
        found = status[Said.OPTIMAL] + status[Said.FEASIBLE]
        if found:
            parts.append(f"{percent(status['optimal'] / found)} of {words}")
        if 0 < found < population["n"]:
            parts[-1] += " where something does"
    return f"Proved smallest: {listed(parts)}." if parts else ""


def _absent(population: Summary) -> list[str]:
    out = []
    if population["nothing_needed"]:
        fixed = ", with what the rules fix," if population["rules_fix"] else ""
        share = percent(population["nothing_needed"] / population["n"])
        out.append(
            f"For {share} nothing in particular was needed: the typical values{fixed} get the same "
            "prediction. Looked at one by one, they say what was enough whatever the other values "
            "are, or compared with another class, where there is such an answer."
        )
    for name, words in (("positive", "is enough"), ("negative", "would change it")):
        answers = population[name]
        none = answers["status"][Said.INFEASIBLE]
        if none:
            why = answers["reasons"][0]["reason"]
            share = percent(none / population["n"])
            out.append(f"For {share} it is proved that nothing {words}; most often: {why}.")
        if answers["status"][Said.ALREADY]:
            share = percent(answers["status"][Said.ALREADY] / population["n"])
            out.append(f"For {share} nothing has to change: they are predicted as asked already.")
        if answers["status"][Said.FAILED]:
            out.append(f"No answer on what {words} for {answers['status']['failed']:,}.")
    return out
