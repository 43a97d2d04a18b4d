"""TLS between threads: a server that executes in one, and a client in another."""

import socket
import ssl
import tempfile
import threading

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


def serve(listener, context):
    with listener.accept()[0] as plain, context.wrap_socket(plain, server_side=True) as secret:
        while line := secret.recv(100):
            secret.sendall(line[::-1])


server_context, client_context = contexts()
for number in range(2):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener, server_context))
        thread.start()
        with socket.create_connection(listener.getsockname()) as plain:
            with client_context.wrap_socket(plain, server_hostname="localhost") as secret:
                s_ciphers.append((secret.version(), secret.cipher()[0], secret.get_channel_binding("tls-unique")))
                for i in range(3):
                    secret.sendall(b"client %d says %d" % (number, i))
                    s_received.append(secret.recv(100))
        thread.join()
pass
