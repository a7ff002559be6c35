"""The four zones of a lab as pure functions of an outcome, the charts and the widgets."""
