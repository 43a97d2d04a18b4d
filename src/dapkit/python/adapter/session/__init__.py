"""A session of the adapter with one program: launched or attached, its requests, its end."""
