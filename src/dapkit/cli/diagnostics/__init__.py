"""The routes of diagnostics as commands; what they find out is found out in `dapkit.diagnostics`."""
