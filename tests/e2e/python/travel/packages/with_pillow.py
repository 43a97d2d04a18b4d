"""An image of Pillow: drawn, filtered, and packed."""

import hashlib
import io

from PIL import Image, ImageDraw, ImageFilter

s_image = Image.new("RGB", (64, 64), "white")
draw = ImageDraw.Draw(s_image)
for number in range(8):
    draw.rectangle(
        (number * 6, number * 5, number * 6 + 10, number * 5 + 12), fill=(number * 30, 255 - number * 20, 90)
    )
blurred = s_image.filter(ImageFilter.GaussianBlur(2)).rotate(30).resize((32, 32))
s_pixels = [blurred.getpixel((place, place)) for place in range(0, 32, 8)]
packed = io.BytesIO()
blurred.save(packed, "PNG")
s_digest = hashlib.sha256(blurred.tobytes()).hexdigest()[:16]
s_size = Image.open(io.BytesIO(packed.getvalue())).size
print(s_pixels, s_digest, s_size)
