"""Vision-language compositionality: images and captions that differ in how things are put together.

So far what needs no data: losses, metrics, and how scores of sub-tasks make those of suites. It is no track of the
workflow yet.
"""
