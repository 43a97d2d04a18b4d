"""Templates as sources: the frames that render them, and where in the template those are."""
