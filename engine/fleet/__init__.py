"""The fleet: topology, occupancy, arrivals, queues, placement and the event loop."""
