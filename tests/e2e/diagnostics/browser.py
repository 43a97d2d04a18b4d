"""A browser that looks at a page: Debian's Chromium without a window, driven by its driver."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from screens import WRITE_PICTURES

PICTURES = Path(__file__).parents[3] / "docs" / "how-to" / "diagnose"
PICTURE_BYTES = 200_000

_SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    *("--disable-default-apps", "--disable-extensions", "--force-color-profile=srgb", "--font-render-hinting=none"),
)


class Browser:
    """One page at a time, as wide as it is asked for."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver

    def show(self, page: Path, *, width: int, height: int, mobile: bool = False, dark: bool = False) -> None:
        """Show a page."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._driver.get(page.as_uri())

    def run(self, script: str) -> Any:  # noqa: ANN401 - whatever the script returns
        """Run a script in the page, and return what it returns."""
        return self._driver.execute_script(script)

    def click(self, selector: str) -> None:
        """Click the first element that fits."""
        self._driver.find_element("css selector", selector).click()

    def complaints(self) -> list[str]:
        """Return what was written to the console since the last time, such as violations of the page's policy."""
        return [str(entry["message"]) for entry in self._driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def requested(self) -> list[str]:
        """Return the addresses that pages asked for since the last time, but those of the browser's own."""
        found = [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]  # type: ignore[no-untyped-call]
        return [
            str(message["params"]["request"]["url"])
            for message in found
            if message["method"] == "Network.requestWillBeSent"
            and not str(message["params"]["documentURL"]).startswith("chrome:")
        ]

    def keep_picture(self, name: str) -> None:
        """Keep what is shown for the documentation, which has to have such a picture; as `screens.keep_picture`."""
        picture = self._driver.get_screenshot_as_png()
        in_docs = PICTURES / f"{name}.png"
        if WRITE_PICTURES:
            in_docs.parent.mkdir(parents=True, exist_ok=True)
            in_docs.write_bytes(picture)
        assert in_docs.exists(), f"docs have no picture {in_docs.name}: run the test with DAPKIT_WRITE_PICTURES=1"
        assert in_docs.stat().st_size < PICTURE_BYTES


@contextmanager
def browser(require_tool: Callable[[str], Path], profile: Path) -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it."""
    options = ChromeOptions()
    options.binary_location = str(require_tool("chromium"))
    for switch in (*_SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(str(require_tool("chromedriver")), env={**os.environ, "HOME": str(profile)})
    driver = Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
