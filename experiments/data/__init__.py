"""The paper's five data sets, from the files their sources publish or from what stands for them."""
