"""Random hostile problems against slow oracles: ``make fuzz``.

A case is a family (what is checked) and a seed (on what). A family is a function of a random
generator that raises if something is wrong; it knows nothing of how it is run.
"""
