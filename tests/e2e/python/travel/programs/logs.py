"""Logging to a file that is rotated."""

import logging
import logging.handlers
import os
import tempfile
import time

s_logged = []

with tempfile.TemporaryDirectory() as folder:
    handler = logging.handlers.RotatingFileHandler(os.path.join(folder, "log"), maxBytes=2000, backupCount=2)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(thread)d %(lineno)d %(message)s"))
    logger = logging.getLogger("travel")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    end = time.monotonic() + 0.4
    number = 0
    while time.monotonic() < end:
        logger.info("message %d", number)
        try:
            number // (number % 5)
        except ZeroDivisionError:
            logger.exception("divided")
        if number % 10 == 0:
            with open(handler.baseFilename) as file:
                s_logged.append((file.read()[-80:], sorted(os.listdir(folder))))
        number += 1
    logger.removeHandler(handler)
    handler.close()
pass
