"""What a session shows must not run anything in the page that shows it."""
import re

import pytest

from gloveport._html import safe_bundle, safe_html, safe_text


@pytest.mark.parametrize("text", [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>", "<iframe src='/x'></iframe>",
    "<svg><script>alert(1)</script></svg>", "<svg/onload=alert(1)>", "<style>@import '/x'</style>", "<b onclick=alert(1)>x</b>",
    "<div style=\"background:url('/x')\">x</div>", "<scr<script>ipt>alert(1)</script>", "<math><mi xlink:href='javascript:alert(1)'>",
    "<form action='/x'><input type=submit></form>", "<base href='//x'>", "<meta http-equiv=refresh content='0;url=//x'>",
    "<link rel=stylesheet href='/x'>", "<object data='/x'>", "<a href=' javascript:alert(1)'>", "<img src='data:image/svg+xml;base64,AA'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<!--><img src=x onerror=alert(1)>-->", "<b\x00 onclick=x>",
    "<div style='position:fixed;top:0'>", "<textarea></textarea><img src=x onerror=alert(1)>", "<img src='/api/kernels'>"])
def test_what_could_run_or_fetch_is_gone(text):
    made = "".join(re.findall("<[^>]*>?", safe_html(text)))  # what is no element is only text
    for word in ("script", "onerror", "onclick", "onload", "javascript", "iframe", "svg", "url(", "import", "action", "base", "refresh",
                 "<link", "<object", "position", "/api", "src=\"x\""):
        assert word not in made


def test_tables_stay_as_they_are():
    table = ('<div><table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>a</th></tr></thead>'
             '<tbody><tr><th>0</th><td>1 &lt; 2 &amp; 3</td></tr></tbody></table></div>')
    assert safe_html(table) == table
    assert safe_html("<b>open <i>ends") == "<b>open <i>ends</i></b>"
    assert safe_html("</td>x</b>") == "x"
    assert safe_html('<a href="https://example.org/a">x</a>') == '<a href="https://example.org/a">x</a>'
    assert safe_html('<img src="data:image/png;base64,AAAA">') == '<img src="data:image/png;base64,AAAA">'


def test_bundles_have_only_forms_that_cannot_run():
    bundle = safe_bundle({"text/plain": "x", "image/png": b"\x89PNG", "text/html": "<script></script><b>x</b>",
                          "application/javascript": "alert(1)", "text/latex": "$x$", "text/markdown": "<script>", 5: "x",
                          "application/vnd.custom+json": {"a": 1}, "application/json": {"a": 1}})
    assert bundle == {"text/plain": "x", "image/png": "iVBORw==", "text/html": "<b>x</b>", "application/json": {"a": 1}}
    picture = safe_bundle({"image/svg+xml": "<svg><script>alert(1)</script></svg>", "text/plain": "x"})
    assert set(picture) == {"text/plain", "text/html"} and picture["text/html"].startswith('<img src="data:image/svg+xml;base64,')


def test_markdown_and_latex_are_shown_as_they_were_written():
    assert safe_bundle({"text/markdown": "**a** <b>\x1b[2J", "text/plain": "<M object>"}) == {"text/plain": "**a** <b>\u241b[2J"}
    assert safe_bundle({"text/latex": "$x$", "text/plain": "<M object>"}) == {"text/plain": "$x$"}


def test_control_characters_are_shown_and_colours_stay():
    assert safe_text("\x1b[31mred\x1b[0m\n\tx\r") == "\x1b[31mred\x1b[0m\n\tx\r"
    assert safe_text("\x1b]0;title\x07\x1b[2J") == "\u241b]0;title\u2407\u241b[2J"


def test_what_the_parser_or_json_cannot_take_is_left_out():
    assert safe_html("<b>x</b><![x[y]]><script>") == "<b>x</b>"
    shown = safe_bundle({"text/html": "<![x[y]]>", "application/json": {"a": {1, 2}}, "text/plain": "x"})
    assert shown["text/plain"] == "x" and "application/json" not in shown
    assert "application/json" not in safe_bundle({"application/json": [float("nan")]})
