"""Plausibility of each place of a render among clean views of its scene, by features that are learnt from these views.

The definition is our own. The files, from pictures to score: `dictionary` and `backbone` (a picture's cells as features),
`whitening` (so that a step aside is short in every direction), `features` (both, fitted on a scene), `plausibility` (from
matches to the score), `metric` (the score of a pair, and of a picture without one of the clean views); and `distance`,
how far a render is from its reference in these features.
"""
