"""A package, since a dependency installs a `tests` of its own that would be found instead."""
