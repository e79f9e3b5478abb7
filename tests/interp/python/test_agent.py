"""Agent runs with a model that is a function."""
import gloveport


def scripted(*answers):
    left = list(answers)
    return lambda messages: left.pop(0)


def test_run_with_steps_and_tools():
    steps = []
    agent = gloveport.Agent(scripted("First I look.\n<code>\nimport socket\n</code>",
                                     "Now.\n<code>\nfinal_answer({'n': twice(21)}, 'twice')\n</code>"),
                            tools={"twice": lambda n: 2 * n}, on_step=lambda kind, data: steps.append((kind, data)))
    result = agent.run("What is twice 21?", schema={"type": "object", "required": ["n"]})
    assert (result.ok, result.answer, result.stop_reason) == (True, {"n": 42}, "final_answer")
    assert [kind for kind, _ in steps if kind in ("action", "result")] == ["action", "result"] * 2
    assert [data["result"].outcome for kind, data in steps if kind == "result"] == ["denied", "ok"]
    assert "twice" in result.evidence


def test_model_that_fails_is_a_stop_reason():
    def broken(messages):
        raise ConnectionError("no network")

    result = gloveport.Agent(broken).run("anything")
    assert result.stop_reason == "model_error" and "no network" in str(result.raw)


def test_files_and_messages():
    seen = []

    def model(messages):
        seen.append(messages)
        return "<code>final_answer(open('a.txt').read())</code>"

    assert gloveport.Agent(model, instructions="Be brief.").run("Read it", files={"a.txt": b"hello"}).answer == "hello"
    assert seen[0][0]["role"] == "system" and "Be brief." in str(seen[0])


def test_session_ends_with_the_run():
    heard = []
    agent = gloveport.Agent(lambda messages: "<code>final_answer(1)</code>", on_event=lambda kind, data: heard.append(kind))
    assert agent.run("One.").answer == 1
    assert agent._running is None and heard[-1] == "session_close"
