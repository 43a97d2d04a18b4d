"""From the switches of `python -m dapkit`, or of the variable DAPKIT, to the engine's options: plain data."""

import os

from dapkit.program_api.addresses import (
    certificate_files,
    folder_for_family,
    folders_with_tokens,
    need_own_path,
    private_folder,
)
from dapkit.program_api.command_line import CliOptions


def start_plan(options: CliOptions, *, end_file: str = "") -> dict[str, object]:
    """Describe how clients reach the program, as the engine's `startup` expects it.

    Impossible combinations are refused. `end_file` gets the program's exit code and last exception.

    Raises:
        ValueError, OSError: it cannot be; the text says why.

    """
    place = options.address
    assert place is not None  # noqa: S101 - `command_line` has seen to it
    assert options.mode is not None  # noqa: S101 - the same
    token, file = options.adapter_access_token, options.token_file
    folders = [folder_for_family()]
    if options.mode == "connect":
        folders = folders_with_tokens(place)
    elif isinstance(place, str):
        need_own_path(place, has_token=file is not None)
    elif file is None:
        folders = [private_folder()]
    return {
        "mode": options.mode,
        "place": place if isinstance(place, tuple) else os.path.abspath(place),
        "token": token,
        "shown": certificate_files(options.tls_certificate, options.tls_key, place),
        "authority": None if options.tls_authority is None else os.path.abspath(options.tls_authority),
        "token_file": None if file is None else os.path.abspath(file),
        "folders": folders,
        "waits": options.target_kind != "pid" and (options.wait_for_client or options.mode == "connect"),
        "log": _log_file(options),
        "config": options.config,
        "end_file": end_file,
        "said": {name: value for name, value in vars(options).items() if name not in ("adapter_access_token", "wants")},
    }


def _log_file(options: CliOptions) -> str:
    """Return the file of the log of decisions; empty for none, `-` for stderr."""
    if options.log_to is not None:
        process = int(options.target or 0) if options.target_kind == "pid" else os.getpid()
        return log_file_in(options.log_to, process)
    return "-" if options.log_to_stderr else ""


def log_file_in(path: str, process: int) -> str:
    """Return the file for the log of a process: in a folder, or the file itself."""
    full = os.path.abspath(path)
    return os.path.join(full, f"dapkit-{process}.log") if os.path.isdir(full) else full
