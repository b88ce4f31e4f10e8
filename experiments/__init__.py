"""The paper's experiments, as commands: `python -m experiments --help`, from the repository's root."""
