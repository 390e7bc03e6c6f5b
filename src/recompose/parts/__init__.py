"""Parts of tables and figures that tracks and claims share: cells, rows, metrics, and how figures look."""
