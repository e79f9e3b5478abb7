"""An OpenAI-compatible endpoint on the loopback interface that plays a transcript, as a stream where it is asked to."""

import json
import time

from loopback_server import Handler, LoopbackServer


class ScriptedEndpoint(LoopbackServer):
    """`with ScriptedEndpoint(answers) as endpoint:` serves at endpoint.url; `requests` are the bodies that came in.

    `pause`: seconds before each piece of a stream.
    """

    def __init__(self, answers, pause=0):
        self.requests = []
        answers = iter(answers)
        requests = self.requests

        class Playing(Handler):
            def do_POST(self):  # noqa: N802 - the name that http.server calls
                requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                content = next(answers, None)
                if content is not None and requests[-1].get("stream"):
                    return self.stream(content)
                body = json.dumps({"error": {"message": "no more answers"}} if content is None else {
                    "model": "scripted-model", "usage": {"prompt_tokens": 100, "completion_tokens": 10},
                    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": content}}]}).encode()
                self.send_response(400 if content is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self, content):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                pieces = [content[at:at + 7] for at in range(0, len(content), 7)]
                chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
                chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                chunks.append({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}})
                try:
                    for chunk in chunks:
                        time.sleep(pause)
                        self.wfile.write(f"data: {json.dumps({'model': 'scripted-model', **chunk})}\n\n".encode())
                        self.wfile.flush()
                    self.wfile.write(b"data: [DONE]\n\n")
                except (BrokenPipeError, ConnectionResetError):
                    pass  # whoever asked has left
        super().__init__(Playing)
        self.url = f"http://{self.host}/v1"
