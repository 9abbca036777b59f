"""The kill campaign: `make test-faults`.

Each action is struck once at a point: by a signal or a fault, at one of the API calls it makes.
Afterwards stop-runner and its sweep clean up, and nothing may be left of the fleet, and everything
of its siblings.
"""
