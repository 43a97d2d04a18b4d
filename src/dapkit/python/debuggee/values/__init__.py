"""Values and what is inside them, as they are shown, stored and numbered."""
