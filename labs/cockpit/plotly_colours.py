"""The colours of plotly's charts.

Names more than colours: the sheet turns each into its token, so that dark mode and print are one sheet.
"""

INK = "rgb(20,32,43)"
MUTED = "rgb(82,96,108)"
BIG = "rgb(30,67,128)"
ACCENT = "rgb(29,91,184)"
GOOD = "rgb(18,160,122)"
BAD = "rgb(198,40,40)"
CLEAR = "rgba(0,0,0,0)"
SHADE = "rgba(125,138,149,.14)"
