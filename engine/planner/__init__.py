"""The strategy planner: which way of training fits, why, and what was rejected."""
