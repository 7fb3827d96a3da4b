import json, sys

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"id": request["id"], "result": request["item"]["line"].upper()}
    except Exception as error:
        answer = {"id": request["id"], "error": str(error)}
    print(json.dumps(answer), flush=True)
