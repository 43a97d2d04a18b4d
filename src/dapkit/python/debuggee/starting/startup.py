"""The start of a program that clients can attach to from its beginning: `python -m dapkit`, and the variable DAPKIT.

`dapkit.program_api.start_plan` has read the words by then, and describes in plain data how clients come (`Beginning`).
"""

from typing import TYPE_CHECKING

from ..connection import current_engine, tokens
from ..sources.fileless_code import UnfiledTexts
from ..sources.files import Sources
from . import attachable

if TYPE_CHECKING:
    from typing import TypedDict

    from ..connection.listener import ListenAddress, Shown

    class Beginning(TypedDict):
        """How clients come to a program.

        Attributes:
            mode: `listen` or `connect`.
            place: host and port, or the path of a unix socket.
            token: of the port, if it was given.
            shown: files of the certificate and its key, for a port that speaks TLS.
            authority: a file of certificates that vouch for the debugger's.
            token_file: the file that has it, if there is one.
            folders: private folders: the one for a token that is made and for sockets of children, or those where a
                debugger may have left a token.
            log: the file of the log of decisions; empty for none, `-` for stderr.
            waits: whether the program goes on only when a client has configured its session.
            config: the values of `--configure-NAME`.
            said: the words that were given, for the program to ask for.
            end_file: of a member of a job: a file that gets the program's exit code and last exception, as JSON. A
                member does not report where it listens. Empty for other programs.

        """

        mode: str
        place: ListenAddress
        token: str | None
        shown: Shown | None
        authority: str | None
        token_file: str | None
        folders: list[str]
        log: str
        waits: bool
        config: dict[str, object]
        said: dict[str, object]
        end_file: str


def begin(beginning: "Beginning") -> None:
    """Listen or connect, and wait if that is wanted.

    Raises:
        OSError, ValueError, RuntimeError: it cannot be; the text says why.

    """
    _begin(beginning, main=0, announce=not beginning["end_file"])
    if beginning["waits"]:
        current_engine.wait()


def begin_in_running(beginning: "Beginning", main: int) -> str:
    """Listen or connect, in a thread of our own; `main` is the main thread, 0 if that is not known. Return where.

    Raises:
        RuntimeError: it cannot be; the text says why.

    """
    current_engine.need_no_launcher()
    try:
        _begin(beginning, main=main, announce=False)
    except (OSError, ValueError) as error:
        raise RuntimeError(explain(error, beginning)) from error
    return attachable.whereabouts() if beginning["mode"] == "listen" else f"connected to {_address(beginning)}"


def _begin(beginning: "Beginning", *, main: int, announce: bool) -> None:
    current_engine.said, current_engine.config = beginning["said"], {**current_engine.config, **beginning["config"]}
    token, place, folders = beginning["token"], beginning["place"], beginning["folders"]
    attachable.identity.end_file = beginning["end_file"]
    if beginning["token_file"] is not None:
        token = tokens.read(beginning["token_file"])
    if beginning["mode"] == "listen":
        folder = folders[0] if folders else ""
        attachable.listen(
            place,
            token=token,
            folder=folder,
            allow_remote=True,
            certificate=beginning["shown"],
            announce=announce,
            main=main,
        )
        return
    if token is None and not isinstance(place, str):
        token = tokens.find(place, folders)
    attachable.connect(place, token, authority=beginning["authority"], waits=beginning["waits"], main=main)


def explain(error: BaseException, beginning: "Beginning") -> str:
    """Return why a program could not begin like this."""
    if not isinstance(error, OSError):
        return str(error)
    preposition = "at" if beginning["mode"] == "listen" else "to"
    return f"cannot {beginning['mode']} {preposition} {_address(beginning)}: {error.strerror or error}"


def _address(beginning: "Beginning") -> str:
    place = beginning["place"]
    return place if isinstance(place, str) else f"{place[0]}:{place[1]}"


def sources() -> Sources:
    """Return the rules for the program's own code, for a program without a client so far."""
    return Sources(UnfiledTexts())
