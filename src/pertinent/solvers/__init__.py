"""The one problem: the nearest point of a region, in weighted L1, for many centers at once.

What `project` says of its answers, their ``status`` and ``bound``, is what the solver believes. No
answer of `pertinent` repeats it: `pertinent.setting` decides what is claimed. Whoever calls
`project` directly recomputes what is proved by ``found.certificate.bounds(task)``, and asks the
region whether it holds the point.
"""

from pertinent.setting.options import Options
from pertinent.solvers.ensembles import solve as _trees  # noqa: F401 - registers its method
from pertinent.solvers.problem import Method, Projections, Solved, Task
from pertinent.solvers.select import choose_method, make_ready
from pertinent.solvers.union import project

__all__ = [
    "Method",
    "Options",
    "Projections",
    "Solved",
    "Task",
    "choose_method",
    "make_ready",
    "project",
]
