# The environment of requirements.lock; the project itself is mounted where it runs, so that data and results stay
# outside. docs/how-to/container.md has the commands.
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
ENV VIRTUAL_ENV=/opt/recompose
# USER: the user that owns the mounted project has no name here, and Snakemake asks for one
ENV PATH=$VIRTUAL_ENV/bin:$PATH HOME=/tmp USER=researcher PYTHONPATH=/recompose/src DVC_NO_ANALYTICS=1
COPY requirements.lock /opt/
RUN python -m venv $VIRTUAL_ENV \
    && python -m pip install --no-cache-dir uv \
    && uv pip sync --no-cache --compile-bytecode --require-hashes /opt/requirements.lock
# the command `recompose`; its code comes with the project
RUN printf '#!/bin/sh\nexec python -m recompose "$@"\n' > $VIRTUAL_ENV/bin/recompose && chmod +x $VIRTUAL_ENV/bin/recompose \
    && git config --system --add safe.directory /recompose
WORKDIR /recompose
CMD ["snakemake", "--cores", "all"]
