"""Profiles: their bases and their overrides."""

from collections.abc import Iterator
from typing import Any

from recompose.files import Document
from recompose.params.merging import merged, plain
from recompose.params.mistakes import Problem, nearest, params_error, unknown_name


def with_bases(document: Document) -> Document:
    """Return a copy of the document in which every profile is merged onto its base."""
    profiles = _profiles(document)
    return (
        {**document, "profiles": {**document["profiles"], **{name: _whole(name, profiles) for name in profiles}}}
        if profiles
        else document
    )


def wrong_bases(document: Document) -> Iterator[Problem]:
    """Yield the problems of bases that do not exist, and of profiles that are based on themselves."""
    profiles, reported = _profiles(document), set[str]()
    for name in profiles:
        chain = [name]
        while (base := _base(profiles[chain[-1]])) in profiles and base not in chain:
            chain.append(str(base))
        if base == name and name not in reported:
            reported.update(chain)
            message = f"a profile cannot build on itself: {' on '.join([*chain, name])}"
            yield Problem(("profiles", name, "based_on"), message, "circular-base")
        elif base is not None and len(chain) == 1 and base not in profiles:
            yield from unknown_name(
                ("profiles", name, "based_on"), base, [allowed for allowed in profiles if allowed != name]
            )


def apply_overrides(document: Document, profile: str, source: str) -> Document:
    """Return a copy of the document with the values that a profile overrides.

    Raises:
        ParamsError: a key to override does not exist.
    """
    document = plain(document)
    for dotted, value in document["profiles"][profile].get("override", {}).items():
        *path, last = dotted.split(".")
        section = document
        for key in path:
            section = section.get(key, {}) if isinstance(section, dict) else {}
        if not isinstance(section, dict) or last not in section:
            message = f"there is no such key to override{nearest(dotted, _dotted_paths(document))}"
            problem = Problem(("profiles", profile, "override", dotted), message, "unknown-key")
            raise params_error(f"{source} is wrong:", [problem])
        section[last] = plain(value)
    return document


def _profiles(document: Document) -> dict[str, Document]:
    """Return the profiles that are mappings; the schema reports the others."""
    profiles = document.get("profiles")
    return (
        {name: profile for name, profile in profiles.items() if isinstance(profile, dict)}
        if isinstance(profiles, dict)
        else {}
    )


def _base(profile: Document) -> str | None:
    base = profile.get("based_on")
    return base if isinstance(base, str) else None


def _whole(name: str, profiles: dict[str, Document]) -> Document:
    """Return a profile merged onto its base; an override replaces a whole value, and the profile's own come last."""
    profile, base_name = profiles[name], _base(profiles[name])
    if base_name is None:
        return profile
    base = _whole(base_name, profiles)
    whole = merged(base, profile)
    inherited, overrides = base.get("override"), profile.get("override")
    if isinstance(inherited, dict) and isinstance(overrides, dict):
        whole["override"] = {key: value for key, value in inherited.items() if key not in overrides} | overrides
    return whole


def _dotted_paths(section: Any, prefix: str = "") -> list[str]:
    if not isinstance(section, dict):
        return []
    return [
        path for key, value in section.items() for path in (f"{prefix}{key}", *_dotted_paths(value, f"{prefix}{key}."))
    ]
