"""TLS between two ends in memory: keys and nonces are random numbers that OpenSSL takes from the system."""

import os
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

s_ciphered = []
s_received = []
s_states = []


def contexts():
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(CERTIFICATE)
        file.flush()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(file.name)
    return server, ssl.create_default_context(cadata=CERTIFICATE)


class End:
    def __init__(self, context, **options):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, **options)

    def attempt(self, action, *arguments):
        try:
            return action(*arguments)
        except ssl.SSLWantReadError:
            return None


def converse(server_context, client_context):
    server, client = End(server_context, server_side=True), End(client_context, server_hostname="localhost")
    for _ in range(4):
        client.attempt(client.tls.do_handshake)
        server.incoming.write(client.outgoing.read())
        server.attempt(server.tls.do_handshake)
        client.incoming.write(server.outgoing.read())
    s_states.append((client.tls.version(), client.tls.cipher(), client.tls.getpeercert()["subject"]))
    for i in range(10):
        client.tls.write(b"secret %d" % i)
        ciphered = client.outgoing.read()
        s_ciphered.append(ciphered.hex())
        server.incoming.write(ciphered)
        s_received.append(server.attempt(server.tls.read, 100))


made = contexts()
begin = time.monotonic()
while time.monotonic() < begin + 0.3:
    converse(*made)
s_last = s_ciphered[-3:]
s_random = ssl.RAND_bytes(20), os.urandom(10)
