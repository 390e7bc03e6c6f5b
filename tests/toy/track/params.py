"""What the track adds to params.yaml."""

from collections.abc import Collection, Iterable

from pydantic import Field

from recompose.params.mistakes import Problem, unknown_name
from recompose.params.schema import TrackForm
from recompose.params.sections import Count, Name, Positive, Section, Seed


class Lengths(Section):
    """Lengths that are drawn."""

    seed: Seed = Field(description="Of the drawing.")
    count: Count = Field(description="How many are drawn; half of them to train on.")


class Zero(Section):
    """Guesses 0."""


class Training(Section):
    """How a guess is learned."""

    lr: Positive = Field(description="Length of a step.")
    epochs: Count = Field(description="Steps.")


class Descent(Section):
    """Guesses what gradient descent comes to."""

    training: Training = Field(description="How it is trained.")


class Methods(Section):
    """The methods and their settings."""

    zero: Zero = Field(description="Guesses 0.")
    descent: Descent = Field(description="Learns its guess.")


class ToySection(Section):
    """Lengths and guesses."""

    datasets: dict[Name, Lengths] = Field(description="To choose from.")
    methods: Methods = Field(description="The methods and their settings.")

    def problems(self) -> Iterable[Problem]:
        return ()


class ToyChoice(Section):
    """What a profile takes of it."""

    datasets: list[str] = Field(description="The data sets that methods run on.")
    methods: list[str] = Field(description="The methods that are run.")
    seeds: list[Seed] = Field(description="Of the runs.")

    def problems(self, section: ToySection, backbones: Collection[str]) -> Iterable[Problem]:
        for number, name in enumerate(self.datasets):
            yield from unknown_name(("datasets", number), name, section.datasets)


FORM = TrackForm(ToySection, ToyChoice)
