"""The paper's five data sets, from published files or from substitutes."""
