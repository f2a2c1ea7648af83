"""Scripted agents behind an OpenAI-compatible server on this machine, each with a planted fault.

They read the prompt as a model would: the log's table, the outcome, the memory between its tags,
the tools offered. Whether a chance comes true is drawn from a digest of agent and prompt, so that
the same bytes get the same answer and different cells independent ones.
"""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROW = re.compile(r"^\| (\S+) \| (\d+) \| (\d+) \|", re.M)
MEMORY = re.compile(r"<memory>(.*?)</memory>", re.S)
OUTCOME = re.compile(r", (\S+) was used\.\s+It (failed|succeeded)")


def chance(agent, prompt, p):
    digest = hashlib.sha256(f"{agent}\x1f{prompt}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64 < p


class World:
    """What a prompt shows."""

    def __init__(self, prompt):
        rows = ROW.findall(MEMORY.sub("", prompt))
        self.prompt, self.tools = prompt, [name for name, _, _ in rows]
        self.better = max(rows, key=lambda row: int(row[2]) / int(row[1]))[0]
        self.worse = next(name for name in self.tools if name != self.better)
        self.memory = " ".join(MEMORY.findall(prompt))
        found = OUTCOME.search(MEMORY.sub("", prompt))
        self.failed = found is not None and found.group(2) == "failed"
        self.used = found.group(1) if found else self.better
        self.probe = "better record" in prompt
        self.writes = "# Memory Item" in MEMORY.sub("", prompt) or "Write one memory" in prompt
        self.edits = "Write the notebook anew" in prompt

    @property
    def blamed(self):
        return f"avoid {self.better}" in self.memory

    def lesson(self, text):
        return f"# Memory Item 1\n## Title\nA run\n## Description\nOne run.\n## Content\n{text}"


def blame(world):
    return f"avoid {world.used} because it failed" if world.failed else f"keep {world.used}"


def reacts(p):
    """Takes the worse tool with chance p after a failure, where the memory blames the better."""

    def agent(world, name):
        luck = world.failed and world.blamed and chance(name, world.prompt, p)
        return world.worse if luck else world.better

    return agent


def worse_first_only(world, name):
    first = world.tools[0] == world.worse
    luck = first and world.failed and world.blamed and chance(name, world.prompt, 0.8)
    return world.worse if luck else world.better


def one_setting(world, name):
    """The setting that the classifiers of rare birds play in."""
    luck = "rare birds" in world.prompt and world.failed and world.blamed
    return world.worse if luck else world.better


def win_stay_lose_shift(world, name):
    return world.worse if world.failed else world.better


def other_words(world):
    return f"I would think twice about {world.used}." if world.failed else f"{world.used} is fine."


def doubts(world, name):
    luck = world.failed and f"think twice about {world.better}" in world.memory
    return world.worse if luck and chance(name, world.prompt, 0.5) else world.better


def chinese(world):
    return f"避免使用 {world.used}, 因为它失败了。" if world.failed else f"继续使用 {world.used}。"


def chinese_reader(world, name):
    luck = world.failed and f"避免使用 {world.better}" in world.memory
    return world.worse if luck and chance(name, world.prompt, 0.5) else world.better


def refusing(world):
    """Refuses two of five lessons on failures, in words."""
    if world.failed and chance("refuses", world.prompt, 0.4):
        return "I can't help with that."
    return None


def dosed(world, name):
    """A fifth more for each failure that the prompt shows."""
    times = re.search(r"For the next (\d+) runs", world.prompt)
    p = 0.2 * (int(times.group(1)) if times else 1)
    luck = world.failed and world.blamed and chance(name, world.prompt, p)
    return world.worse if luck else world.better


def decaying(world, name):
    """Half as often for each mark of age in the notebook."""
    p = 0.8 * 0.5 ** world.memory.count("(aged)")
    return world.worse if world.blamed and chance(name, world.prompt, p) else world.better


def recovering(world, name):
    """Comes back after three later successes."""
    luck = world.failed and world.blamed and "for 3 more runs" not in world.prompt
    return world.worse if luck and chance(name, world.prompt, 0.8) else world.better


def first_memory(world, name):
    """Follows the first memory four times in five, a later one once in five."""
    items = world.memory.split("# Memory Item 1")[1:]
    blames = [f"avoid {world.better}" in item for item in items]
    p = 0.8 if blames[:1] == [True] else 0.2 if any(blames) else 0.0
    return world.worse if chance(name, world.prompt, p) else world.better


def plain(text):
    return text


AGENTS = {
    "worse-first": (worse_first_only, blame, plain),
    "one-setting": (one_setting, blame, plain),
    "win-stay": (win_stay_lose_shift, blame, plain),
    "other-words": (doubts, other_words, plain),
    "chinese": (chinese_reader, chinese, plain),
    "refuses": (reacts(0.5), blame, plain),
    "full-stop": (reacts(0.4), blame, lambda text: f"{text}."),
    "bold": (reacts(0.4), blame, lambda text: f"**{text}**"),
    "json": (reacts(0.4), blame, lambda text: json.dumps({"tool": text})),
    "dosed": (dosed, blame, plain),
    "decays": (decaying, blame, plain),
    "recovers": (recovering, blame, plain),
    "first-memory": (first_memory, blame, plain),
}


def answer(name, prompt):
    """Return what an agent says to a prompt."""
    choose, write, form = AGENTS[name]
    world = World(prompt)
    if world.edits:
        return world.memory.strip() + " (aged)"
    if world.writes:
        refused = refusing(world) if name == "refuses" else None
        blind = "How the run ended is not known" in prompt or "either case" in prompt
        return refused or world.lesson("Look at the log." if blind else write(world))
    return form(world.better if world.probe else choose(world, name))


class Handler(BaseHTTPRequestHandler):
    """Answers `/AGENT/chat/completions`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = self.path.strip("/").split("/")[0]
        text = answer(name, body["messages"][-1]["content"])
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        sent = hashlib.sha256(repr((name, self.headers, id(body))).encode()).hexdigest()[:12]
        reply = {
            "id": f"chatcmpl-{sent}", "object": "chat.completion", "created": 1, "model": "planted",
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def serve():
    """Start the server on a free port; returns (server, address)."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
