"""A workbook of openpyxl, written to memory and read again."""

import io

from openpyxl import Workbook, load_workbook
from openpyxl.styles import Font

book = Workbook()
sheet = book.active
for row in range(1, 25):
    sheet.append([row, row * row, f"=A{row}+B{row}", "x" * (row % 5)])
sheet["A1"].font = Font(bold=True)
packed = io.BytesIO()
book.save(packed)
s_again = load_workbook(io.BytesIO(packed.getvalue()))
s_rows = [[cell.value for cell in row] for row in s_again.active.iter_rows(min_row=20)]
s_sum = sum(cell.value for cell in s_again.active["B"])
s_bold = s_again.active["A1"].font.bold
print(s_rows[-1], s_sum, s_bold)
