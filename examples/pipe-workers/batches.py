import json, sys

print('{"batch": 100}', flush=True)
batch = []
for line in sys.stdin:
    if line != "\n":
        batch.append(json.loads(line))
        continue
    answers = [{"id": request["id"], "result": request["item"]["line"].upper()} for request in batch]
    print("\n".join(map(json.dumps, answers)), flush=True)
    batch = []
