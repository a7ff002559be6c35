"""The labs: thin notebooks over the engine."""
