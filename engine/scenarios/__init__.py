"""One frozen model per question that a lab asks: levers in, outcome out."""
