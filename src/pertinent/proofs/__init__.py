"""Certificates: why an answer is optimal, or why there is none, in a form anyone can re-check.

Nothing here calls a solver or shares code with one. A proof holds numbers (dual multipliers,
a Farkas ray, tangent points ...) from which `Proofs.bounds` recomputes, with plain NumPy, a
value that no point of the cell can undercut.
"""

from pertinent.proofs.cases.bent import BentProofs
from pertinent.proofs.cases.branch import BranchProofs
from pertinent.proofs.cases.curved import CurvedBranchProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.proofs.cases.separable import SeparableProofs
from pertinent.proofs.cases.separable_branch import SeparableBranchProofs
from pertinent.proofs.copositive.replay import CopositiveProofs
from pertinent.proofs.copositive.simplices import Simplices
from pertinent.proofs.core import (
    ALREADY,
    FAILED,
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    Block,
    Certificate,
    NoProofs,
    Proofs,
    SeveralProofs,
    SolverBounds,
    Status,
    Verdict,
    check,
    status_names,
)
from pertinent.proofs.ensembles.proof import EnsembleProofs
from pertinent.proofs.lagrange import LagrangeProofs
from pertinent.proofs.linear import LinearProofs, SingleRowProofs
from pertinent.proofs.supports.cardinality import StrictProofs, refutes
from pertinent.proofs.supports.fewest import FewestProofs, Goal
from pertinent.proofs.supports.fewest_mixed import Argument
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
from pertinent.proofs.sweep import SweepProofs
from pertinent.proofs.tangent import CutProofs, HullProofs, TangentProofs
from pertinent.proofs.winners import RivalProofs

__all__ = [
    "ALREADY",
    "FAILED",
    "FEASIBLE",
    "INFEASIBLE",
    "OPTIMAL",
    "Argument",
    "BentProofs",
    "Block",
    "BranchProofs",
    "Certificate",
    "CopositiveProofs",
    "CurvedBranchProofs",
    "CutProofs",
    "EnsembleProofs",
    "FewestProofs",
    "Goal",
    "HalvingProofs",
    "HullProofs",
    "LagrangeProofs",
    "LinearProofs",
    "NoProofs",
    "Proofs",
    "RivalProofs",
    "RivalSetProofs",
    "SeparableBranchProofs",
    "SeparableProofs",
    "SeveralProofs",
    "Simplices",
    "SingleRowProofs",
    "SolverBounds",
    "Status",
    "StrictProofs",
    "SufficientProofs",
    "SweepProofs",
    "TangentProofs",
    "Verdict",
    "check",
    "refutes",
    "status_names",
]
