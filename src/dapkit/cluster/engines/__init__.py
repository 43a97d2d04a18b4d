"""The engines that jobs run on: each names the members of its jobs, and how to reach them."""
