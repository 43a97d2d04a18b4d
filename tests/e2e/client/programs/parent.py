"""Runs a child process and waits for it."""

import subprocess
import sys
from pathlib import Path

subprocess.run([sys.executable, str(Path(__file__).with_name("child.py"))], check=True)
print("parent done", flush=True)
