#!/usr/bin/python3
"""Checks comments and documents against the rules of CONTRIBUTING.md that a program can check.

usage: check.py [FILE…]     without files: every file that git knows

Prints a line for each finding, FILE:LINE: what is wrong. Exits with 1 if there are any, and with 77
if no file is named and git lists none here.

| where                        | rule                                                        |
|------------------------------|-------------------------------------------------------------|
| comments, Markdown           | at most 100 columns, links, tables and code blocks excepted |
| comments, Markdown           | none of WORDS                                               |
| ///, /** and docstrings      | open with their subject or verb, never with OPENERS, and    |
|                              | never with `Threads:` or `Fails:`                           |
| Markdown                     | at most 25 words a sentence                                 |

Comments are those of C++, JavaScript, CSS, HTML, Python with its docstrings, YAML, CMake, shell and
protocols.
"""

import ast
import os
import re
import subprocess
import sys

COLUMNS = 100
SENTENCE_WORDS = 25

OPENERS = "Of|As|By|For|That|To|What|Like|Who|Whoever|Whose|How|Whether"
# "Like evaluate(), but …" says what it is like, and so stands alone.
BANNED_OPENER = re.compile(rf"(?!Like [\w:]+\(\))({OPENERS})\b", re.IGNORECASE)

# The word, and what to write in its place.
WORDS = {
    r"beside": "next to",
    r"anew": "again",
    r"whoever": "those who, or the thing's name",
    r"whereof": "of which",
    r"so many": "`count`, or the number's name",
    r"dear(?:er|est)?": "slow",
    r"sentinels?": "reference plan",
    r"reckon(?:s|ed|ing)?": "compute",
    r"wish(?:es)?": "request, options",
    r"doors?": "acceptor",
    r"none:": '"0 means", "no value means"',
}
BANNED_WORD = re.compile(rf"(?<![\w-])({'|'.join(WORDS)})(?![\w-])", re.IGNORECASE)

# Strings come first: what looks like a comment inside of one is none.
CPP_TOKEN = re.compile(
    r"""R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)" | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])*' |
        (?P<comment>//[^\n]*)""",
    re.DOTALL | re.VERBOSE,
)
JS_TOKEN = re.compile(
    r""""(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*` |
        (?P<comment>//[^\n]* | /\*.*?\*/) |
        (?<=[(,=:\[!&|?{};\n])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/""",
    re.DOTALL | re.VERBOSE,
)
BLOCK_COMMENT = re.compile(r"(?P<comment>/\*.*?\*/|<!--.*?-->)", re.DOTALL)
SCRIPT_COMMENT = re.compile(r"\s*(?:#+|//+)(?:\s+(?P<words>.*)|$)")
# A comment behind a value.
YAML_COMMENT = re.compile(r"(?:^|.*?\s)#+(?:\s+(?P<words>.*)|$)")
# They come behind what says what a type is, or what a function does.
LATER = re.compile(r"(Threads|Fails):")
SCRIPTS = (".proto", ".sh", ".cmake", ".service", ".conf", ".supp")
SCRIPT_FILES = ("CMakeLists.txt", ".gitignore", ".npmrc")
YAML_FILES = (".clang-tidy", ".clang-format")
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\]\([^)]*\)|<?https?://\S+")
LIST_ITEM = re.compile(r"\s*([-*+]|\d+\.)\s+")
SENTENCE_END = re.compile(r"[.!?][\"')*_]*\s+(?=[\"'(*_`\[]*[A-Z0-9`])")


def too_wide(line):
    width = len(LINK.sub("]", line))
    return f"{width} columns, more than {COLUMNS}" if width > COLUMNS else None


def banned_words(text):
    for match in BANNED_WORD.finditer(CODE.sub("", text)):
        said = match[1]
        advice = next(how for word, how in WORDS.items() if re.fullmatch(word, said, re.IGNORECASE))
        yield f'"{said}": write {advice}'


def bad_opener(words):
    match = BANNED_OPENER.match(words) or LATER.match(words)
    return f'opens with "{match[1]}": begin with the subject, or with the verb' if match else None


def check_cpp(text):
    """Yields (line, finding)."""
    lines = text.split("\n")
    previous = (0, "", 0)  # line, marker and column of the last comment
    for token in CPP_TOKEN.finditer(text):
        comment = token["comment"]
        if comment is None:
            continue
        number = text.count("\n", 0, token.start()) + 1
        line = lines[number - 1]
        column = token.start() - (text.rfind("\n", 0, token.start()) + 1)
        marker, words = re.match(r"(///<|/+)\s*(.*)", comment).groups()
        if problem := too_wide(line):
            yield number, problem
        follows = previous == (number - 1, marker, column)
        previous = (number, marker, column)
        if marker.startswith("///") and not follows:
            if problem := bad_opener(words):
                yield number, problem
        for problem in banned_words(words):
            yield number, problem


def check_script(text, comments):
    """Yields (line, finding) for lines that are comments, or have one at their end."""
    for number, line in enumerate(text.split("\n"), 1):
        if not (match := comments.match(line)):
            continue
        if problem := too_wide(line):
            yield number, problem
        for problem in banned_words(match["words"] or ""):
            yield number, problem


def check_blocks(text, tokens):
    """Yields (line, finding) for comments that may take several lines."""
    lines = text.split("\n")
    for token in tokens.finditer(text):
        comment = token["comment"]
        if comment is None:
            continue
        first = text.count("\n", 0, token.start("comment")) + 1
        opener = re.match(r"/\*\*[\s*]*(.*)", comment)
        if opener and (problem := bad_opener(opener[1])):
            yield first, problem
        for number, words in enumerate(comment.split("\n"), first):
            if problem := too_wide(lines[number - 1]):
                yield number, problem
            for problem in banned_words(words):
                yield number, problem


def check_python(text):
    """Yields (line, finding) for comments and docstrings."""
    yield from check_script(text, SCRIPT_COMMENT)
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        if ast.get_docstring(node) is None:
            continue
        string = node.body[0]
        if problem := bad_opener(ast.get_docstring(node)):
            yield string.lineno, problem
        for number in range(string.lineno, string.end_lineno + 1):
            if problem := too_wide(lines[number - 1]):
                yield number, problem
            for problem in banned_words(lines[number - 1]):
                yield number, problem


def long_sentences(paragraph):
    """Yields (line, finding) for a paragraph given as [(line, text)]."""
    words = [(number, word) for number, text in paragraph for word in text.split()]
    text = " ".join(word for _, word in words)
    begin = 0
    for sentence in SENTENCE_END.split(text):
        count = len(sentence.split())
        if count > SENTENCE_WORDS:
            yield words[begin][0], f"a sentence of {count} words, more than {SENTENCE_WORDS}"
        begin += count


def check_markdown(text):
    paragraph = []
    in_code = False
    for number, line in enumerate(text.split("\n") + [""], 1):
        fence = re.match(r"\s*(```|~~~)", line)
        in_code ^= bool(fence)
        is_table = line.lstrip().startswith("|")
        item = LIST_ITEM.match(line)
        apart = fence or in_code or is_table or line.startswith("#") or not line.strip()
        if apart or item:
            yield from long_sentences(paragraph)
            paragraph = []
        if fence or in_code:
            continue
        for problem in banned_words(LINK.sub("]", line)):
            yield number, problem
        if not is_table and (problem := too_wide(line)):
            yield number, problem
        if not apart:
            prose = LINK.sub("]", CODE.sub("`code`", line))
            paragraph.append((number, prose[item.end() :] if item else prose))


def check(name, text):
    """Yields (line, finding) for the text of that file."""
    extension = os.path.splitext(name)[1]
    if extension in (".h", ".cc"):
        yield from check_cpp(text)
    elif extension == ".md":
        yield from check_markdown(text)
    elif extension == ".js":
        yield from check_blocks(text, JS_TOKEN)
    elif extension in (".css", ".html"):
        yield from check_blocks(text, BLOCK_COMMENT)
    elif extension == ".py":
        yield from check_python(text)
    elif extension in (".yaml", ".yml") or os.path.basename(name) in YAML_FILES:
        yield from check_script(text, YAML_COMMENT)
    elif extension in SCRIPTS or os.path.basename(name) in SCRIPT_FILES or text.startswith("#!"):
        yield from check_script(text, SCRIPT_COMMENT)


def known_files():
    """Returns the files that git knows in this folder; none without git or outside a repository."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [name for name in listed.stdout.split("\0") if name and os.path.isfile(name)]


def main(names):
    if not names:
        names = known_files()
        if not names:
            print("prose: git lists no files here, so none was read", file=sys.stderr)
            return 77
    found = 0
    for name in names:
        with open(name, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for number, problem in check(name, text):
            print(f"{name}:{number}: {problem}")
            found += 1
    if found > 0:
        print(f"prose: {found} findings in {len(names)} files", file=sys.stderr)
    return 1 if found > 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
