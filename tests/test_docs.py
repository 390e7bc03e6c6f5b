"""The documents: links resolve, commands exist, quick commands and examples run, numbers are those of the reports."""

import ast
import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from typer.core import TyperCommand, TyperGroup

from recompose.main import app
from recompose.papers.declaration import PAPERS, all_papers
from recompose.tables.kinds import artifact_files
from recompose.workflow.graph import Graph
from tests.configuration import write_params
from tests.conftest import BIN, ROOT

REPORTS = "reports/demo"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*(path.relative_to(ROOT) for path in DOCUMENTS), Path("CONTRIBUTING.md"), Path("CHANGELOG.md")]
MARKS = ("<!-- quick -->", "<!-- slow -->")  # whether the commands of a block are run, or only parsed
# programs of others, whose options are not looked at
OTHERS = {"source", "umask", "chgrp", "git", "docker", "apptainer", "uv", "squeue"}
# options of snakemake that take all words up to the next option
MULTIPLE = {"--default-resources", "--resources", "--until", "-R"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the comment before it."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> Iterator[list[str]]:
        """Yield its commands as words, without the variables before them."""
        for line in self.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words = words[1:]
            if words:
                yield words


@cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text(encoding="utf-8"))


def blocks(language: str) -> list[Block]:
    """Return the fenced blocks in a language of all pages."""
    found = []
    for page in PAGES:
        mark = ""
        for token in tokens(page):
            if token.type == "fence" and token.info == language and token.map:
                found.append(Block(page, token.map[0] + 1, language, mark, token.content))
            mark = token.content.strip() if token.type == "html_block" else ""
    return found


def slugs(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    found: dict[str, int] = {}
    anchors = set()
    for opening, inline in zip(tokens(page), tokens(page)[1:], strict=False):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            anchors.add(f"{slug}-{found[slug]}" if slug in found else slug)
            found[slug] = found.get(slug, 0) + 1
    return anchors


def links(page: Path) -> Iterator[str]:
    for token in tokens(page):
        for child in token.children or ():
            target = child.attrs.get("href") or child.attrs.get("src")
            if target and not re.match(r"[a-z]+:", str(target)):
                yield str(target)


def code_spans(page: Path) -> Iterator[str]:
    for token in tokens(page):
        yield from (child.content for child in token.children or () if child.type == "code_inline")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page.parent / path).resolve() if path else ROOT / page
        inside = target.is_relative_to(ROOT) and target.exists()
        if not inside or (anchor and anchor not in slugs(target.relative_to(ROOT))):
            wrong.append(link)
    assert not wrong


@pytest.mark.slow
def test_generated_blocks_are_current() -> None:
    (recipe,) = re.findall(r"^\tcog -r (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    command = f"{BIN / 'cog'} --check --check-fail-msg='run make docs' {recipe}"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_of_commands_says_whether_it_is_run() -> None:
    assert [str(block) for block in blocks("bash") if block.mark not in MARKS] == []
    assert {block.mark for block in blocks("bash")} == set(MARKS)


@pytest.mark.parametrize("block", blocks("bash"), ids=str)
def test_commands_exist(block: Block) -> None:
    for words in block.commands:
        check_command(words)


def check_command(words: list[str]) -> None:
    """Check that a command of the project, its options and its targets exist."""
    program, *arguments = words
    if program in OTHERS:
        for index, word in enumerate(arguments):  # a command of ours that runs in a container
            if index and arguments[index - 1] in ("recompose", "recompose.sif") and word in ("recompose", "snakemake"):
                check_command(arguments[index:])
    elif program == "recompose":
        parse_recompose(arguments)
    elif program == "snakemake":
        assert {word for word in snakemake_targets(arguments) if word.islower()} <= snakemake_names(), words
    elif program == "make":
        assert set(arguments) <= make_targets(), words
    elif program == "dvc":
        check_dvc(arguments)
    elif words[:2] == ["python", "-m"]:
        assert has_module(words[2]), words
    else:
        assert "/" in program and (ROOT / program).is_file(), words


def has_module(name: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(name) is not None
    return False


def parse_recompose(arguments: list[str]) -> None:
    """Parse arguments as the command line does, and carry nothing out."""
    command, path = find_command(arguments)
    assert isinstance(command, TyperCommand), arguments
    try:
        with suppress(typer.Exit):  # --help
            command.make_context("recompose", arguments[path:])
    except Exception as error:  # the classes of usage errors are private to typer
        raise AssertionError(f"{shlex.join(arguments)}: {error}") from None


def find_command(arguments: list[str]) -> tuple[object, int]:
    """Return the command that arguments name, and how many of them name it."""
    command: object = typer.main.get_command(app)
    for count, word in enumerate(arguments):
        if not isinstance(command, TyperGroup):
            return command, count
        if word in ("--help", "-h", "--version", "--install-completion"):
            return command, count
        assert word in command.commands, f"recompose has no command {word}: {shlex.join(arguments)}"
        command = command.commands[word]
    return command, len(arguments)


def snakemake_targets(arguments: list[str]) -> Iterator[str]:
    option = ""
    for word in arguments:
        if word.startswith("-"):
            option = "" if word in ("-n", "--lint", "--list") else word
        elif option:
            option = option if option in MULTIPLE else ""
        else:
            yield word


@cache
def snakemake_names() -> set[str]:
    """Return what Snakemake can be asked for: rules with a name of their own, papers, and files of artifacts."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow").rglob("*") if path.is_file()]
    rules = {name for text in texts for name in re.findall(r"^rule (\w+):", text, re.MULTILINE)}
    files = {
        f"{REPORTS}/{paper.name}/{file}"
        for paper in all_papers()
        for name in paper.artifacts
        for file in artifact_files(paper, name)
    }
    return rules | set(PAPERS) | files | {"comparisons/my-csp", "comparisons/mine"}  # which the documents declare


@cache
def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


ARCHIVE = ("release.tar.gz", "release.tar.gz.dvc")  # which the example makes


def check_dvc(arguments: list[str]) -> None:
    """Check that DVC has the command and its options, and that dvc.yaml has the stages and outputs that it names."""
    from dvc.cli import DvcParserError, parse_args

    try:
        parsed = parse_args(arguments)
    except (SystemExit, DvcParserError) as error:
        raise AssertionError(f"dvc {shlex.join(arguments)}: {error}") from None
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    outputs = {path for stage in stages.values() for each in stage["outs"] for path in each}
    assert set(getattr(parsed, "targets", None) or ()) <= {*stages, *outputs, "data.dvc", *ARCHIVE}, arguments


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_in_sentences_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it names commands that are gone
    for span in code_spans(page):
        words = span.split()
        if words[0] == "recompose" and len(words) > 1 and not words[1].startswith("."):
            command, _ = find_command(words[1:])
            options = {name for each in getattr(command, "params", ()) for name in each.opts}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, span
        elif words[0] in ("make", "snakemake") or words[:2] == ["python", "-m"]:
            check_command(words)


def test_targets_of_make_are_listed() -> None:
    listed = set(re.findall(r"`make ([a-z-]+)`", (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony and listed == set(phony.group(1).split())


def quick_commands() -> list[list[str]]:
    quick = [words for block in blocks("bash") if block.mark == MARKS[0] for words in block.commands]
    return [words for index, words in enumerate(quick) if words not in quick[:index]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the profile of the documents, whatever profile is chosen here."""
    folder = tmp_path_factory.mktemp("demo")
    for path in ROOT.iterdir():
        if path.name not in ("params.yaml", "results"):
            (folder / path.name).symlink_to(path)
    write_params(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("words", quick_commands(), ids=" ".join)
def test_quick_commands_run(demo: Path, words: list[str]) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", *words] if words[0] == "recompose" else words
    done = subprocess.run(command, cwd=demo, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_the_diagram_of_rules_has_all_of_them(demo: Path) -> None:
    (diagram,) = (block for block in blocks("mermaid") if block.page.name == "architecture.md")
    made = {job.rule for job in Graph.of_folder(demo, scheduled=False).jobs.values()}
    assert set(re.findall(r"\[(\w+)\]", diagram.text)) == made | {"table", "figure", "page"}


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_examples_hold(block: Block) -> None:
    examples = doctest.DocTestParser().get_doctest(block.text, {}, str(block), str(block.page), block.line)
    if examples.examples:
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(examples).failed == 0
    else:
        ast.parse(block.text)
