"""Plausibility of each place of a render among clean views of its scene, by features that are learnt from these views.

The definition is our own. The files, from pictures to score: `features` (a picture's cells as features, whitened so that a step
aside is short in every direction), `plausibility` (from matches to the score), `metric` (the score of a pair, and of a picture
without one of the clean views); and `distance`, how far a render is from its reference in these features.
"""
