"""The paper's experiments. Run `python -m experiments --help` in the root of the repository."""
