"""A server of models on the loopback interface: chat completions, Responses and Messages, streamed where that is asked for.

It plays answers in turn; an answer is a text, `Code(...)` (given as a tool call where tools are offered, as {"thought", "code"} where
structured output is asked for, else as text), or `Refuse(status, message)`.
"""

import dataclasses
import json

from loopback_server import Handler, LoopbackServer


@dataclasses.dataclass
class Code:
    code: str
    thought: str = "I compute it."


@dataclasses.dataclass
class Refuse:
    status: int
    message: str


def chat(text, call):
    """A body of chat completions and the chunks that say the same."""
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "execute_code", "arguments": call}}]
    said = {"tool_calls": calls} if call else {"content": text}
    reason = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in (text or "").split("|")] if not call else [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "execute_code"}}]}}]},
        *({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}}]}
          for part in (call[:20], call[20:]))]
    body = {"model": "tiny-1", "usage": usage, "choices": [{"finish_reason": reason, "message": {"role": "assistant", **said}}]}
    end = [{"choices": [{"delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": usage}]
    return body, [("", chunk) for chunk in chunks + end] + [("", "[DONE]")]


def responses(text, call):
    item = {"type": "function_call", "call_id": "call_1", "name": "execute_code", "arguments": call} if call else {
        "type": "message", "content": [{"type": "output_text", "text": text}]}
    whole = {"status": "completed", "error": None, "model": "tiny-1", "output": [item],
             "usage": {"input_tokens": 100, "output_tokens": 10}}
    said = [{"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
            {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": call}] if call else [
                {"type": "response.output_text.delta", "output_index": 0, "delta": text}]
    events = [*said, {"type": "response.completed", "response": {**whole, "output": []}}]
    return whole, [(event["type"], event) for event in events]


def messages(text, call):
    block = {"type": "tool_use", "id": "call_1", "name": "execute_code", "input": json.loads(call)} if call else {
        "type": "text", "text": text}
    usage = {"input_tokens": 100, "output_tokens": 10}
    whole = {"type": "message", "model": "tiny-1", "content": [block], "stop_reason": "tool_use" if call else "end_turn",
             "usage": usage}
    delta = {"type": "input_json_delta", "partial_json": call} if call else {"type": "text_delta", "text": text}
    empty = {**block, "input": {}} if call else {**block, "text": ""}
    events = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
              {"type": "content_block_start", "index": 0, "content_block": empty}, {"type": "ping"},
              {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
              {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": usage},
              {"type": "message_stop"}]
    return whole, [(event["type"], event) for event in events]


PROTOCOLS = {"/chat/completions": chat, "/responses": responses, "/messages": messages}


def speak(path, request, answer):
    protocol = next(speaks for end, speaks in PROTOCOLS.items() if path.endswith(end))
    if isinstance(answer, str):
        return protocol(answer, None)
    arguments = json.dumps({"thought": answer.thought, "code": answer.code})
    if "tools" in request:
        return protocol(None, arguments)
    structured = "response_format" in request or "format" in {**request.get("text", {}), **request.get("output_config", {})}
    return protocol(arguments if structured else f"{answer.thought}\n```python\n{answer.code}\n```", None)


class ModelEndpoint(LoopbackServer):
    """`with ModelEndpoint(answers) as endpoint:` serves at endpoint.url; `requests` are (path, headers, body) that came in."""

    def __init__(self, answers):
        self.requests = []
        answers = iter(answers)
        requests = self.requests

        class Playing(Handler):
            def do_POST(self):  # noqa: N802 - the name that http.server calls
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append((self.path, dict(self.headers), body))
                answer = next(answers, Refuse(400, "no more answers"))
                if isinstance(answer, Refuse):
                    return self.say(answer.status, "application/json", json.dumps({"error": {"message": answer.message}}))
                whole, events = speak(self.path, body, answer)
                if not body.get("stream"):
                    return self.say(200, "application/json", json.dumps(whole))
                lines = [(f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
                         for name, data in events]
                return self.say(200, "text/event-stream", "".join(lines))

            def say(self, status, kind, text):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(text.encode())
        super().__init__(Playing)
        self.url = f"http://{self.host}/v1"
