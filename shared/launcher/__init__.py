"""What `launch` does: find the environment (`environment`) or build it (`build`), then enter it.

Standard library only. `main`, `environment` and `errors` are what every start of an action pays
for: they import nothing that takes a millisecond which they can do without (pathlib, typing,
dataclasses, argparse and subprocess are such), and `build` with all it needs is loaded only
when there is something to build.
"""
