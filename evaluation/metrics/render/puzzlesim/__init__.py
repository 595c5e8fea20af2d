"""Puzzle Similarity: how well each place of a render is found again somewhere in clean views of its scene.

N. Hermann, J. Condor, P. Didyk: "Puzzle Similarity: A Perceptually-guided Cross-Reference Metric for Artifact Detection
in 3D Scene Reconstructions" (arXiv 2411.17489). The files, from numbers to score: `matching` (the block-wise maximum),
`bank` (the reference's features), `similarity` (images to features, and the map), `metric` (its mean).
"""
