"""The plain documents of a lineage, as its JSON holds them.

Their keys are those of the models of `recompose.report.schema`.
"""

from typing import Any

Document = dict[str, Any]
Cell = Document  # a measured cell: row, column, view, text, value, values, made_from, ...
Record = Document  # a stored result behind cells: kind, name, digest, document, needs, code, files, ...
Lineage = Document  # of one artifact: cells, records, asked, benchmarks, files, ...
