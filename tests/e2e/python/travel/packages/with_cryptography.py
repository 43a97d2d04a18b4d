"""Keys, signatures and tokens of cryptography; random numbers are made, and used."""

from cryptography.exceptions import InvalidSignature
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

s_key = ec.generate_private_key(ec.SECP256R1())
public = s_key.public_key()
s_checks = []
for number in range(4):
    message = f"message {number}".encode()
    signature = s_key.sign(message, ec.ECDSA(hashes.SHA256()))
    public.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    try:
        public.verify(signature, message + b"!", ec.ECDSA(hashes.SHA256()))
        s_checks.append("wrong")
    except InvalidSignature:
        s_checks.append("right")
box = Fernet(Fernet.generate_key())
s_opened = [box.decrypt(box.encrypt(f"text {number}".encode())).decode() for number in range(3)]
s_derived = PBKDF2HMAC(algorithm=hashes.SHA256(), length=16, salt=b"salt", iterations=1000).derive(b"word").hex()
s_text = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()[:26]
print(s_checks, s_opened, s_derived, s_text)
