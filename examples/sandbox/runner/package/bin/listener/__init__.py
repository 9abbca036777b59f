"""The runner's program: registers, listens for jobs, runs them.

It talks to the GitHub simulator's `/_runner` endpoints, which stand for services that GitHub does
not document. Standard library only, and few imports: forty machines start it twice on a laptop.
"""
