"""Whose a file is on Windows: ours, the system's, or a stranger's; and files for their owner alone.

Access lists are written, and not read.
"""

import ctypes
import sys
from ctypes import wintypes
from functools import cache

assert sys.platform == "win32"  # noqa: S101 - and so the types of Windows hold below

_SECURITY = ctypes.WinDLL("advapi32", use_last_error=True)
_KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
_KERNEL.GetCurrentProcess.restype = wintypes.HANDLE
_KERNEL.LocalFree.argtypes = [ctypes.c_void_p]
_SECURITY.OpenProcessToken.argtypes = [wintypes.HANDLE, wintypes.DWORD, ctypes.POINTER(wintypes.HANDLE)]
_SECURITY.GetTokenInformation.argtypes = [
    wintypes.HANDLE,
    ctypes.c_int,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.POINTER(wintypes.DWORD),
]
_SECURITY.GetNamedSecurityInfoW.argtypes = [
    wintypes.LPCWSTR,
    ctypes.c_int,
    wintypes.DWORD,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
]
_SECURITY.ConvertStringSecurityDescriptorToSecurityDescriptorW.argtypes = [
    wintypes.LPCWSTR,
    wintypes.DWORD,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
]
_SECURITY.SetFileSecurityW.argtypes = [wintypes.LPCWSTR, wintypes.DWORD, ctypes.c_void_p]
_SECURITY.ConvertSidToStringSidW.argtypes = [ctypes.c_void_p, ctypes.POINTER(wintypes.LPWSTR)]

_TOKEN_QUERY = 0x0008
_TOKEN_USER = 1
_FILE = 1  # SE_FILE_OBJECT
_OWNER = 0x0000_0001  # OWNER_SECURITY_INFORMATION

_ACCESS_LIST = 0x8000_0004  # DACL_SECURITY_INFORMATION, and PROTECTED_...: nothing is inherited from the folder
_FOR_OWNER = "D:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;OW)"
"""All access for the system, administrators and the owner, as in the list of a folder that has mode 0o700."""

_OF_SYSTEM = (
    "S-1-5-18",  # the system itself
    "S-1-5-32-544",  # administrators
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",  # the installer of Windows
)


def stranger_who_owns(path: str) -> str | None:
    """Return the identifier of the owner of a file, unless that is our user or the system. Raises: OSError."""
    owner = _owner_of(path)
    return None if owner in {*_OF_SYSTEM, _own_user()} else owner


def restrict_to_owner(path: str) -> None:
    """Let only the owner of a file, administrators and the system have access to it.

    Raises:
        OSError: it is not ours, or is on a disk without access lists.

    """
    descriptor = ctypes.c_void_p()
    make = _SECURITY.ConvertStringSecurityDescriptorToSecurityDescriptorW
    if not make(_FOR_OWNER, 1, ctypes.byref(descriptor), None):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        if not _SECURITY.SetFileSecurityW(path, _ACCESS_LIST, descriptor):
            raise ctypes.WinError(ctypes.get_last_error())
    finally:
        _KERNEL.LocalFree(descriptor)


def _owner_of(path: str) -> str:
    owner, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
    number = _SECURITY.GetNamedSecurityInfoW(
        path, _FILE, _OWNER, ctypes.byref(owner), None, None, None, ctypes.byref(descriptor)
    )
    if number:
        raise ctypes.WinError(number)
    try:
        return _text_of(owner)
    finally:
        _KERNEL.LocalFree(descriptor)


@cache
def _own_user() -> str:
    token = wintypes.HANDLE()
    if not _SECURITY.OpenProcessToken(_KERNEL.GetCurrentProcess(), _TOKEN_QUERY, ctypes.byref(token)):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        size = wintypes.DWORD()
        _SECURITY.GetTokenInformation(token, _TOKEN_USER, None, 0, ctypes.byref(size))
        information = ctypes.create_string_buffer(size.value)
        if not _SECURITY.GetTokenInformation(token, _TOKEN_USER, information, size, ctypes.byref(size)):
            raise ctypes.WinError(ctypes.get_last_error())
        return _text_of(ctypes.c_void_p.from_buffer(information))  # its first member is the address of the identifier
    finally:
        _KERNEL.CloseHandle(token)


def _text_of(identifier: ctypes.c_void_p) -> str:
    text = wintypes.LPWSTR()
    if not _SECURITY.ConvertSidToStringSidW(identifier, ctypes.byref(text)):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return str(text.value)
    finally:
        _KERNEL.LocalFree(text)
