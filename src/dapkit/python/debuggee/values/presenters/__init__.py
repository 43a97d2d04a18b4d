"""How values of certain classes are shown, as their users want to see them."""
