"""asyncio over TLS: an encrypted server and five clients at a time, over loopback."""

import asyncio
import ssl
import tempfile
import time

# A key that nobody uses, and a certificate for localhost that it has signed itself.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgK42vMfFjBsMer5Wc
Hft65GHUWozpaJEtbGrV6lGF2iKhRANCAASgmTE0qHhAiHV0JrQzGn8XWnMPZhJF
cVTArrFlPCSAOF4j0bSqKJUr/tCl4w2kXdRhOqT0ymWi/lQnpmMkLvR2
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUf9tWGqMc3735EW3pHCHw0wPcsGgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzEzMTUzNFoYDzIxMjYxMDMw
MTMxNTM0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASgmTE0qHhAiHV0JrQzGn8XWnMPZhJFcVTArrFlPCSAOF4j0bSqKJUr
/tCl4w2kXdRhOqT0ymWi/lQnpmMkLvR2o28wbTAdBgNVHQ4EFgQUsrn3dtSLonK/
+/YJJbi/lzvc3V4wHwYDVR0jBBgwFoAUsrn3dtSLonK/+/YJJbi/lzvc3V4wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgcOuwM7c9cydSJ57474WiQ1ieTZW/8UqCTWovT+jkgGcCIQCx
ykqsIS6b02++KpmSMU9+hYsV+mOVexc5/BRyxIhulg==
-----END CERTIFICATE-----
"""

s_received = []
s_ciphers = []


def contexts():
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(CERTIFICATE)
        file.flush()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(file.name)
    return server, ssl.create_default_context(cadata=CERTIFICATE)


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line[::-1].strip() + b" %d\n" % time.monotonic_ns())
        await writer.drain()
    writer.close()


async def client(port, context, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    secret = writer.get_extra_info("ssl_object")
    s_ciphers.append((number, secret.version(), secret.cipher()[0], secret.get_channel_binding("tls-unique")))
    for i in range(5):
        writer.write(b"client %d says %d\n" % (number, i))
        s_received.append(await reader.readline())
    writer.close()
    await writer.wait_closed()


async def main():
    server_context, client_context = contexts()
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_context)
    port = server.sockets[0].getsockname()[1]
    begin = time.monotonic()
    async with server:
        while time.monotonic() < begin + 0.3:
            await asyncio.gather(*(client(port, client_context, i) for i in range(5)))


asyncio.run(main())
s_last = s_received[-5:]
s_count = len(s_received)
