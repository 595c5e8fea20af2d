"""Recursive inpainting: find what of a render is not of its scene, replace it, and keep what gained most. PURE."""
