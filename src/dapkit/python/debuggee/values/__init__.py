"""Values and their contents, as they are shown, stored and numbered."""
