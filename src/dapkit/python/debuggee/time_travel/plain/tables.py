"""Which functions of modules in C are noted, which end the history, and which are left alone."""

from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


NOTED: Final = {
    "posix": """
        access chdir chmod chown closerange copy_file_range cpu_count device_encoding dup dup2 fchdir fchmod fchown
        fdatasync fpathconf fstat fstatvfs fsync ftruncate get_blocking get_inheritable get_terminal_size getcwd
        getcwdb getegid geteuid getgid getgrouplist getgroups getloadavg getlogin getpgid getpgrp getpid getppid
        getpriority getrandom getresgid getresuid getsid getuid getxattr isatty lchown link listdir listxattr lockf
        lseek lstat memfd_create mkdir mkfifo open pathconf pipe pipe2 posix_fadvise posix_fallocate pread read
        readlink remove removexattr rename replace rmdir sched_getaffinity sched_yield sendfile set_blocking
        set_inheritable setxattr stat statvfs symlink sync sysconf times truncate ttyname umask uname unlink urandom
        utime""",
    "time": """
        asctime clock_getres clock_gettime clock_gettime_ns ctime gmtime localtime monotonic monotonic_ns perf_counter
        perf_counter_ns process_time process_time_ns sleep strftime thread_time thread_time_ns time time_ns""",
    "resource": "getrusage getrlimit",
    "_uuid": "generate_time_safe",
}
LEFT_ALONE: Final = words(
    """
    WCOREDUMP WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG _create_environ
    _inputhook _is_inputhook_installed _path_normpath _path_splitroot_ex confstr ctermid fspath major makedev
    minor putenv sched_get_priority_max sched_get_priority_min strerror unsetenv waitstatus_to_exitcode"""
)
"""Of `posix`: they take nothing from outside. What is nowhere here ends the history."""
ENDING: Final = {
    "select": "select poll",
    "_ssl": "RAND_add RAND_bytes",
    "termios": "tcdrain tcflow tcflush tcgetattr tcgetwinsize tcsendbreak tcsetattr tcsetwinsize",
    "_posixsubprocess": "fork_exec",
    "faulthandler": "enable register dump_traceback dump_traceback_later",
    "_signal": """
        alarm pause pidfd_send_signal pthread_kill pthread_sigmask raise_signal set_wakeup_fd setitimer sigpending
        sigtimedwait sigwait sigwaitinfo""",
}
ENDING_MODULES: Final = words("_curses _dbm _gdbm _multiprocessing _posixshmem _tkinter readline")
"""What their functions do with the outside is seen by nobody."""
OPENING: Final = words(
    """
    dup dup2 memfd_create open pipe pipe2"""
)
"""Descriptors that their results are: these are there in the past, too, and lead nowhere."""
FENCED: Final = words(
    """
    _thread.start_joinable_thread _thread.start_new_thread ctypes.dlopen fcntl.fcntl fcntl.flock fcntl.ioctl
    fcntl.lockf mmap.__new__ os.exec os.fork os.forkpty os.kill os.killpg os.posix_spawn os.system pty.spawn
    resource.prlimit resource.setrlimit signal.pthread_kill sqlite3.connect subprocess.Popen sys.addaudithook
    syslog.closelog syslog.openlog syslog.setlogmask syslog.syslog"""
)
"""Events of `sys.audit` for what cannot be noted; those of sockets, besides. They end the history."""
CHANGING: Final = words(
    """
    os.chflags os.chmod os.chown os.link os.mkdir os.remove os.removexattr os.rename os.rmdir os.setxattr
    os.symlink os.truncate os.utime"""
)
"""Those for what changes files."""
