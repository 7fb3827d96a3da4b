#!/usr/bin/env python3
"""A Gossip worker in one file, with Python's standard library only.

It works through the lines of a sorted file, the key of each item being the line itself. It claims a shard, does something
to every line in the shard's range, stores how far it has come, gives half of its rest away when other workers wait, and
completes the shard. Kill it at any time: another worker goes on from the last checkpoint once the lease has run out.

    python3 worker.py --url http://127.0.0.1:7711 --run 0000000000000001 --items words.txt --out results.txt
"""
import argparse
import http.client
import json
import os
import random
import secrets
import sys
import time
from bisect import bisect_left
from urllib.parse import urlsplit


class Gossip:
    """Calls the service. A call whose answer is lost is repeated with the same op id, so it is executed once."""

    def __init__(self, url, token=None, patience=60.0):
        self.first = self.url = urlsplit(url)
        self.token, self.patience, self.connection = token, patience, None

    def call(self, path, element, **more):
        """Execute one element. Returns its result, or raises `Refused` with the typed error."""
        deadline, pause = time.monotonic() + self.patience, 0.05
        while True:
            try:
                status, answer = self.post(path, {"elements": [element], **more})
                result = answer["results"][0] if status == 200 else {"error": answer["error"]}
            except (OSError, http.client.HTTPException, ValueError):
                self.go_to(self.first)
                result = {"error": {"kind": "Lost", "advice": "RetrySameOpId", "message": "no answer"}}
                if path == "/v1/claim":
                    element = {**element, "isRepeat": True}
            if "ok" in result:
                return result["ok"]
            error = result["error"]
            if error["kind"] == "Misdirected":
                # Another node of the cluster owns the run, and may own it from now on.
                self.go_to(self.first._replace(netloc=error["owner"]))
            if error["advice"] != "RetrySameOpId" or time.monotonic() > deadline:
                raise Refused(error)
            time.sleep(error.get("retryAfterMs", 0) / 1000 + pause * random.uniform(0.5, 1))
            pause = min(pause * 2, 2.0)

    def go_to(self, url):
        self.url, self.connection = url, None

    def post(self, path, body):
        if self.connection is None:
            kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
            self.connection = kind(self.url.hostname, self.url.port, timeout=70)
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        self.connection.request("POST", path, json.dumps(body), headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.kind, self.advice, self.error = error["kind"], error["advice"], error


def op_id():
    return secrets.token_hex(8)


def work_on(gossip, session, items, args):
    """Work through one shard."""
    lease, shard = session["lease"], session["shard"]
    start, end = shard["range"].get("start", ""), shard["range"].get("end", "")
    # Text and UTF-8 bytes have the same order in Python, so keys can be compared as text.
    at = bisect_left(items, start)
    last = shard["cursor"].get("key")
    if last is not None:
        at = bisect_left(items, last + "\0")
    pending = []
    while at < len(items) and (end == "" or items[at] < end):
        item = items[at]
        pending.append(f"{item}\t{item.upper()}\t{lease['shard']}\t{lease['fence']}")
        time.sleep(args.pause_ms / 1000)
        at += 1
        if len(pending) < args.every:
            continue
        answer = store(gossip, lease, item, pending, args)
        pending = []
        if "run-ended" in answer.get("signals", []):
            return
        if "split-wanted" in answer.get("signals", []):
            end = split(gossip, lease, shard["range"], items, at, end)
    if pending:
        store(gossip, lease, items[at - 1], pending, args)
    gossip.call("/v1/complete", {"lease": lease, "opId": op_id(), "isExhausted": True})
    print("completed", lease["shard"], flush=True)


def store(gossip, lease, key, lines, args):
    """Write results first, then the checkpoint: an item may be written twice, and is never missing."""
    with open(args.out, "a", encoding="utf-8") as out:
        out.write("".join(f"{line}\n" for line in lines))
        out.flush()
        os.fsync(out.fileno())
    answer = gossip.call(
        "/v1/checkpoint", {"lease": lease, "opId": op_id(), "cursor": {"key": key}, "renew": True}
    )
    print("checkpoint", lease["shard"], flush=True)
    return answer


def split(gossip, lease, whole, items, at, end):
    """Give the upper half of what is left to other workers. Returns the new end of our range."""
    upper = len(items) if end == "" else bisect_left(items, end)
    if upper - at < 4:
        return end
    point = items[(at + upper) // 2]
    bounds = {"metadata64": whole["metadata64"]} if "metadata64" in whole else {}
    try:
        gossip.call(
            "/v1/split-residual",
            {
                "lease": lease,
                "opId": op_id(),
                "range": {"start": whole.get("start", ""), "end": point, **bounds},
                "residual": {"start": point, "end": end, **bounds},
            },
        )
    except Refused as refused:
        # Splitting is a favor: going on without it is always right, unless the lease is lost.
        if refused.advice == "Reacquire":
            raise
        return end
    print("split", lease["shard"], flush=True)
    return point


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--run", required=True, help="16 hex digits")
    parser.add_argument("--tenant", help="64 hex digits; not needed if the token has one tenant")
    parser.add_argument("--items", required=True, help="a sorted file, one item a line")
    parser.add_argument("--out", required=True, help="results are appended here")
    parser.add_argument("--every", type=int, default=10, help="items between checkpoints")
    parser.add_argument("--pause-ms", type=float, default=0, help="how long an item takes")
    args = parser.parse_args()
    with open(args.items, encoding="utf-8") as file:
        items = file.read().splitlines()
    gossip = Gossip(args.url, os.environ.get("GOSSIP_TOKEN"))
    claim = {"run": args.run, "worker": op_id(), "markStarved": True}
    if args.tenant:
        claim["tenant"] = args.tenant
    while True:
        try:
            found = gossip.call("/v1/claim", {**claim, "opId": op_id()}, waitMs=2000)
            work_on(gossip, found["sessions"][0], items, args)
        except Refused as refused:
            if refused.advice == "Stop":
                print("done:", refused.kind, flush=True)
                return 0
            # The lease is lost, or there is nothing to claim just now: look for another shard.
            if refused.advice not in ("Reacquire", "WaitUntil"):
                print(refused, file=sys.stderr)
                return 1


if __name__ == "__main__":
    sys.exit(main())
