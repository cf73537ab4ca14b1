"""Certificates: why an answer is optimal, or why there is none, in a form anyone can re-check.

Nothing here calls a solver or shares code with one. A proof holds numbers (dual multipliers,
a Farkas ray, tangent points ...) from which `Proofs.bounds` recomputes, with plain NumPy, a
value that no point of the cell can undercut.
"""

from pertinent.certificate._cardinality import StrictProofs, refutes
from pertinent.certificate._check import Verdict, check
from pertinent.certificate._copositive import CopositiveProofs
from pertinent.certificate._fewest import Argument, FewestProofs
from pertinent.certificate._lagrange import LagrangeProofs
from pertinent.certificate._linear import LinearProofs, SingleRowProofs
from pertinent.certificate._proofs import Block, Certificate, NoProofs, Proofs
from pertinent.certificate._rivals import RivalProofs
from pertinent.certificate._separable import SeparableProofs
from pertinent.certificate._several import SeveralProofs, SolverBounds
from pertinent.certificate._simplices import Simplices
from pertinent.certificate._status import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, status_names
from pertinent.certificate._sweep import SweepProofs
from pertinent.certificate._tangent import TangentProofs

__all__ = [
    "FAILED",
    "FEASIBLE",
    "INFEASIBLE",
    "OPTIMAL",
    "Argument",
    "Block",
    "Certificate",
    "CopositiveProofs",
    "FewestProofs",
    "LagrangeProofs",
    "LinearProofs",
    "NoProofs",
    "Proofs",
    "RivalProofs",
    "SeparableProofs",
    "SeveralProofs",
    "Simplices",
    "SingleRowProofs",
    "SolverBounds",
    "StrictProofs",
    "SweepProofs",
    "TangentProofs",
    "Verdict",
    "check",
    "refutes",
    "status_names",
]
