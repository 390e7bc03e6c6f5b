"""Vision-language compositionality: images and captions that differ in how things are put together."""
