#!/usr/bin/python3
"""Tests which findings check.py has in samples, and what it leaves alone."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import check, main  # noqa: E402


def found(name, text):
    return [(number, problem.split(":")[0]) for number, problem in check(name, text)]


class Width(unittest.TestCase):
    def test_a_comment_of_101_columns_is_too_wide(self):
        line = "// " + "x" * 97
        self.assertEqual(found("a.h", line), [])
        self.assertEqual(found("a.h", line + "x"), [(1, "101 columns, more than 100")])

    def test_columns_are_characters_and_not_bytes(self):
        self.assertEqual(found("a.h", "// " + "═" * 97), [])

    def test_a_comment_behind_code_counts_with_its_code(self):
        self.assertEqual(len(found("a.cc", "int a = 0;  ///< " + "x" * 90)), 1)

    def test_long_code_is_left_to_clang_format(self):
        self.assertEqual(found("a.cc", 'auto a = "' + "x" * 120 + '";'), [])

    def test_comments_of_scripts_count_and_their_code_does_not(self):
        self.assertEqual(len(found("a.cmake", "  # " + "x" * 100)), 1)
        self.assertEqual(len(found("dev", "#!/bin/sh\n# " + "x" * 100)), 1)
        self.assertEqual(found("a.cmake", "set(" + "x" * 120 + ")  # x"), [])

    def test_markdown_may_be_wide_in_tables_code_and_links(self):
        wide = "x" * 101
        self.assertEqual(len(found("a.md", wide)), 1)
        self.assertEqual(found("a.md", f"| {wide} |"), [])
        self.assertEqual(found("a.md", f"```\n{wide}\n```"), [])
        self.assertEqual(found("a.md", f"[here]({wide}) it is"), [])
        self.assertEqual(found("a.md", f"https://{wide}"), [])
        self.assertEqual(len(found("a.md", f"```\n```\n{wide}")), 1)


    def test_comments_of_every_language_count(self):
        wide = "x" * 100
        self.assertEqual(len(found("a.js", f"/** {wide} */")), 1)
        self.assertEqual(len(found("a.js", f"/** A.\n *  {wide} */\nb();")), 1)
        self.assertEqual(len(found("a.js", f"a(/['\"]/);  // {wide}")), 1)
        self.assertEqual(found("a.js", f"a('//{wide}', `/* {wide}`, /[/*]{wide}/);"), [])
        self.assertEqual(len(found("a.css", f"/* {wide} */")), 1)
        self.assertEqual(len(found("a.html", f"<!-- {wide} -->")), 1)
        self.assertEqual(len(found("a.py", f'"""A.\n\n{wide}x"""')), 1)
        self.assertEqual(found("a.py", f'a = """{wide}x"""'), [])
        self.assertEqual(len(found("a.yaml", f"a: b  # {wide}")), 1)
        self.assertEqual(len(found(".clang-tidy", f"# {wide}")), 1)


class Openers(unittest.TestCase):
    def test_a_comment_does_not_open_without_its_subject(self):
        for text in ("Of all of them.", "As X.", "What it has.", "To be called.", "How long.", "Whether."):
            self.assertEqual(len(found("a.h", f"/// {text}")), 1, text)
            self.assertEqual(len(found("a.h", f"int a;  ///< {text.lower()}")), 1, text)

    def test_a_subject_or_a_verb_is_no_such_opener(self):
        for text in ("Returns the sum.", "Offset in bytes.", "Forwards it.", "Total size.", "Asks."):
            self.assertEqual(found("a.h", f"/// {text}"), [], text)

    def test_it_may_say_which_function_it_is_like(self):
        self.assertEqual(found("a.h", "/// Like evaluate(), but with a limit."), [])
        self.assertEqual(len(found("a.h", "/// Like that one.")), 1)

    def test_later_lines_of_a_comment_may_open_with_any_word(self):
        self.assertEqual(found("a.h", "/// Returns the sum\n/// of all of them."), [])
        self.assertEqual(len(found("a.h", "/// Returns it.\nint a();\n/// Of it.")), 1)

    def test_other_comments_are_not_held_to_it(self):
        self.assertEqual(found("a.cc", "// For tests."), [])

    def test_threads_and_errors_come_behind_what_a_thing_is(self):
        self.assertEqual(len(found("a.h", "/// Threads: any.\nclass A {")), 1)
        self.assertEqual(found("a.h", "/// A list.\n///\n/// Threads: any.\nclass A {"), [])
        self.assertEqual(len(found("a.h", "/// Fails: kCorrupt.\nExpected<> read();")), 1)
        self.assertEqual(found("a.h", "/// Reads it. Fails: kCorrupt.\nExpected<> read();"), [])

    def test_comments_of_functions_in_scripts_are(self):
        self.assertEqual(len(found("a.js", "/** What it has. */")), 1)
        self.assertEqual(len(found("a.js", "/**\n * What it has.\n */")), 1)
        self.assertEqual(len(found("a.py", 'def f():\n    """What it has."""')), 1)
        self.assertEqual(found("a.js", "/** Returns it. */ a(b /* of it */)"), [])


class Words(unittest.TestCase):
    def test_banned_words_are_found_in_any_comment_and_in_documents(self):
        for text in ("It lies beside it.", "None: it is lost.", "Begins anew.", "So many bytes."):
            self.assertEqual(len(found("a.cc", f"// {text}")), 1, text)
            self.assertEqual(len(found("a.md", text)), 1, text)
            self.assertEqual(len(found("a.md", f"| {text} |")), 1, text)

    def test_they_are_found_in_every_language(self):
        text = "It lies beside it."
        self.assertEqual(len(found("a.js", f"a();  // {text}")), 1)
        self.assertEqual(len(found("a.css", f"a {{}} /* {text} */")), 1)
        self.assertEqual(len(found("a.py", f'def f():\n    """{text}"""')), 1)
        self.assertEqual(len(found("a.yaml", f"a: b  # {text}")), 1)
        self.assertEqual(len(found("run", f"#!/bin/sh\n# {text}")), 1)
        self.assertEqual(found("a.js", f"a('{text}', `// {text}`);"), [])
        self.assertEqual(found("a.py", f"a = '{text}'"), [])

    def test_parts_of_words_and_names_in_code_are_not(self):
        for text in ("Besides, it works.", "`beside` is a name.", "outdoors", "wishful-thinking"):
            self.assertEqual(found("a.cc", f"// {text}"), [], text)
            self.assertEqual(found("a.md", text), [], text)

    def test_strings_are_no_comments(self):
        for code in ('"// beside"', 'R"(\n// beside\n)"', "'\"'; a(\"// beside\")", "1'000; \"// dear\""):
            self.assertEqual(found("a.cc", f"auto a = {code};"), [], code)

    def test_a_comment_behind_a_string_is_one(self):
        self.assertEqual(len(found("a.cc", 'f("\\"a//b");  // beside')), 1)
        self.assertEqual(len(found("a.cc", "n = 1'000;  // it's beside")), 1)


class Sentences(unittest.TestCase):
    long = "a " * 25 + "end."

    def test_a_sentence_has_at_most_25_words(self):
        self.assertEqual(found("a.md", "A " * 24 + "end."), [])
        self.assertEqual(found("a.md", self.long), [(1, "a sentence of 26 words, more than 25")])

    def test_it_may_run_over_lines_and_is_found_where_it_begins(self):
        text = "Short one.\n\nAnother\none. W" + self.long[1:].replace(" ", "\n", 10)
        self.assertEqual(found("a.md", text), [(4, "a sentence of 26 words, more than 25")])

    def test_tables_code_and_headings_are_no_sentences(self):
        self.assertEqual(found("a.md", f"| {self.long} |"), [])
        self.assertEqual(found("a.md", f"```\n{self.long}\n```"), [])
        self.assertEqual([f for f in found("a.md", f"# {self.long}") if "sentence" in f[1]], [])

    def test_items_of_a_list_are_sentences_of_their_own(self):
        self.assertEqual(found("a.md", "Three:\n" + "- one and two and three\n" * 9), [])

    def test_code_in_a_line_counts_as_one_word(self):
        self.assertEqual(found("a.md", "a " * 20 + "`a b c d e f g h`."), [])


class Main(unittest.TestCase):
    def test_ends_with_1_if_anything_was_found(self):
        here = os.path.dirname(os.path.abspath(__file__))
        self.assertEqual(main([os.path.join(here, "check.py")]), 0)


if __name__ == "__main__":
    unittest.main()
