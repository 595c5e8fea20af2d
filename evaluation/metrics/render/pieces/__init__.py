"""Plausibility of each place of a render among clean views of its scene, by features that are learnt from these views.

The definition is our own. `features` describes the cells of a picture, whitened so that a step to a neighbouring cell is short in every
direction. `plausibility` turns matches into the score. `metric` scores a pair, and a picture without one of the clean views. `distance`
measures how far a render is from its reference in these features.
"""
