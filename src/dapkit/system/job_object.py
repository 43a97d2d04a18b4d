"""Job objects of Windows: processes that end together, with the last handle of their job."""

import ctypes
import sys
from ctypes import wintypes

from dapkit.system.interface import ProcessJob, override

assert sys.platform == "win32"  # noqa: S101 - and so the types of Windows hold below

_KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
_KERNEL.CreateJobObjectW.restype = wintypes.HANDLE
_KERNEL.CreateJobObjectW.argtypes = [ctypes.c_void_p, wintypes.LPCWSTR]
_KERNEL.SetInformationJobObject.argtypes = [wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD]
_KERNEL.AssignProcessToJobObject.argtypes = [wintypes.HANDLE, wintypes.HANDLE]
_KERNEL.OpenProcess.restype = wintypes.HANDLE
_KERNEL.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
_KERNEL.CloseHandle.argtypes = [wintypes.HANDLE]

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE = 0x2000
_SET_QUOTA, _TERMINATE = 0x0100, 0x0001


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", wintypes.DWORD),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
        ("transfers", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


class JobObject(ProcessJob):
    """A job by the system's limit that ends it with its last handle, which is ours."""

    def __init__(self) -> None:
        self._handle: int | None = _KERNEL.CreateJobObjectW(None, None)
        self._limit(_KILL_ON_JOB_CLOSE)

    def _limit(self, flags: int) -> None:
        limits = _Limits(flags=flags)
        size = ctypes.sizeof(limits)
        if not _KERNEL.SetInformationJobObject(self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), size):
            raise ctypes.WinError(ctypes.get_last_error())

    @override
    def take(self, pid: int) -> None:
        process = _KERNEL.OpenProcess(_SET_QUOTA | _TERMINATE, False, pid)  # noqa: FBT003 - no child inherits it
        if not process:
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            if not _KERNEL.AssignProcessToJobObject(self._handle, process):
                raise ctypes.WinError(ctypes.get_last_error())
        finally:
            _KERNEL.CloseHandle(process)

    @override
    def release(self) -> None:
        self._limit(0)

    @override
    def close(self) -> None:
        if self._handle is not None:
            _KERNEL.CloseHandle(self._handle)
            self._handle = None
