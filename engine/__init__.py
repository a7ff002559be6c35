"""The analytical engine of Fleetlab: fleets, queues, checkpoints and elastic training, in numbers.

The engine knows no screen. Scenarios take quantities and return frozen outcomes.
"""

from engine.errors import FleetlabError, InvalidInput
from engine.units import Quantity

__all__ = ["FleetlabError", "InvalidInput", "Quantity"]
