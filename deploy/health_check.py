"""The image's health check: whether this container serves. Exit code 1 when it does not.

It asks `/health/ready`, since `depends_on` of Compose means by *healthy* that there will be answers.
"""

from __future__ import annotations

import http.client
import os
import sys

SECONDS = 4


def main() -> None:
    # Without a proxy's environment variables: it is this very machine.
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=SECONDS)
    try:
        connection.request("GET", "/health/ready")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.exit(f"The service does not answer: {error}")
    if status != http.HTTPStatus.OK:
        sys.exit(f"The service is not ready: {status}. Its log says why.")


if __name__ == "__main__":
    main()
