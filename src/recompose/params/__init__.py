"""The parameters of params.yaml, their meaning and their allowed values.

``loading.load_params`` returns the parameters of the chosen profile, or raises one error that names the file, the line,
the key path, the allowed values and the nearest right name. Each track adds its own section, and a profile's choices
from it, as a ``TrackForm``.
"""
