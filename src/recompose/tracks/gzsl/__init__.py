"""Zero-shot learning with attributes: images of classes that attributes describe, some of which were never shown
in training.
"""
