"""Zero-shot learning with attributes: images of classes that are described by attributes, some of which were never shown
in training.
"""
