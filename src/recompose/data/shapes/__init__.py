"""The drawn world: objects in states, alone or in relation to each other, over cluttered grounds, from a seed."""
