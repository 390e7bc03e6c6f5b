"""Stand-ins of published data: what they hold, and that what reads the published ones reads them."""

from collections import Counter

from benchmarks.stand_ins.sharing import kept

# what they are made of


def test_a_share_keeps_every_label_of_every_group() -> None:
    groups = ["train"] * 10 + ["test"] * 3
    labels = ["a"] * 8 + ["b", "c"] + ["a", "b", "c"]
    places = kept(groups, labels, 0.5)
    assert places == sorted(set(places))
    assert Counter(groups[place] for place in places) == {"train": 5, "test": 3}
    assert {(groups[place], labels[place]) for place in places} == set(zip(groups, labels, strict=True))
