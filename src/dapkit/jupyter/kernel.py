"""The kernel: ipykernel's, with another debugger.

    python -m ipykernel_launcher -f FILE --IPKernelApp.kernel_class=dapkit.jupyter.kernel.DapkitKernel

ipykernel's preparations for debugpy are skipped. debugpy is not started, and need not be installed.
"""

import inspect
import sys
import threading
from types import FrameType
from typing import Any

from ipykernel.compiler import get_file_name, get_tmp_directory, get_tmp_hash_seed
from ipykernel.ipkernel import IPythonKernel
from IPython.core.inputtransformer2 import leading_empty_lines

from dapkit.jupyter.debugger import KernelDebugger


class KernelCells:
    """How ipykernel names the files of cells: by a hash of their text, in a folder of the process."""

    def __init__(self, shell: Any) -> None:  # noqa: ANN401 - of IPython
        self._transforms: list[Any] = shell.input_transformer_manager.cleanup_transforms
        self._place: int | None = None
        self.folder: str = get_tmp_directory()
        self.seed: int = get_tmp_hash_seed()

    def path_of(self, text: str) -> str:
        """Return the file that code made of a text is named after."""
        return str(get_file_name(text))

    def keep_leading_lines(self, *, keep: bool) -> None:
        """Choose whether empty lines at the beginning of a cell count, as they do for the client."""
        if keep and leading_empty_lines in self._transforms:
            self._place = self._transforms.index(leading_empty_lines)
            del self._transforms[self._place]
        elif not keep and self._place is not None:
            self._transforms.insert(self._place, leading_empty_lines)
            self._place = None


class DapkitKernel(IPythonKernel):
    """A kernel for Python whose debugger is dapkit's."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - of traitlets
        super().__init__(**kwargs)
        shell: Any = self.shell
        for thread in threading.enumerate():  # before the first cell, all are the kernel's
            if thread is not threading.main_thread():
                thread.pydev_do_not_trace = True  # type: ignore[attr-defined]  # debuggers look for it
        leaves_out = getattr(self, "filter_internal_frames", True)  # ipykernel 6 has no such setting
        self.debugger = KernelDebugger(
            shell,
            KernelCells(shell),
            self._publish_debug_event,
            kernel_files=_kernel_files() if leaves_out else (),
            just_my_code=self.debug_just_my_code,
        )

    @property
    def kernel_info(self) -> dict[str, Any]:
        """The abilities of the kernel."""
        info: dict[str, Any] = super().kernel_info
        features = info.setdefault("supported_features", [])
        if "debugger" not in features:
            features.append("debugger")
        return info

    def dispatch_debugpy(self, msg: object) -> None:
        """Do nothing: there is no debugpy that could send anything."""

    async def poll_stopped_queue(self) -> None:
        """Do nothing: events are published as they come."""

    async def do_debug_request(self, msg: dict[str, Any]) -> dict[str, Any]:
        """Answer a debug request, in the control thread."""
        answer: dict[str, Any] = await self.debugger.process_request(msg)
        return answer

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """Let a stopped cell go on first, so that the kernel can end by itself."""
        await self.debugger.close()
        result = super().do_shutdown(restart)
        ended: dict[str, Any] = await result if inspect.isawaitable(result) else result
        return ended


def _kernel_files() -> set[str]:
    """Return the files of the kernel itself: all that is loaded before the first cell, and the caller's."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the documented way
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return {file for file in files if file}
