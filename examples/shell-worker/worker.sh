#!/bin/sh
# A Gossip worker in curl and jq. It claims shards of a run, handles the lines of a sorted file that lie in each shard's
# range, stores its progress, and stops when the run has nothing left.
#   GOSSIP_URL=http://127.0.0.1:7711 ./worker.sh RUN ITEMS
set -eu
run=$1 items=$2 worker=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
op() { od -An -N8 -tx1 /dev/urandom | tr -d ' \n'; }
# Send one element. --retry repeats it with the same op id, so it is executed once even if an answer is lost.
call() {
  curl -sS --retry 5 --retry-connrefused -H 'content-type: application/json' \
    ${GOSSIP_TOKEN:+-H "authorization: Bearer $GOSSIP_TOKEN"} "$GOSSIP_URL/v1/$1" -d "$2" | jq -c '.results[0] // .'
}
while :; do
  got=$(call claim "$(jq -nc --arg run "$run" --arg worker "$worker" --arg op "$(op)" --arg tenant "${GOSSIP_TENANT:-}" \
    '{waitMs: 2000, elements: [{run: $run, worker: $worker, opId: $op} + if $tenant == "" then {} else {tenant: $tenant} end]}')")
  advice=$(printf %s "$got" | jq -r '.error.advice // "none"')
  case $advice in
    none) ;;
    WaitUntil | RetrySameOpId) continue ;;
    Stop) exit 0 ;;
    *) printf '%s\n' "$got" >&2; exit 1 ;;
  esac
  lease=$(printf %s "$got" | jq -c '.ok.sessions[0].lease')
  start=$(printf %s "$got" | jq -r '.ok.sessions[0].shard | .cursor.key // .range.start')
  end=$(printf %s "$got" | jq -r '.ok.sessions[0].shard.range.end')
  LC_ALL=C awk -v s="$start" -v e="$end" '$0 >= s && (e == "" || $0 < e)' "$items" | while IFS= read -r item; do
    printf 'did %s\n' "$item"
    call checkpoint "$(jq -nc --argjson lease "$lease" --arg op "$(op)" --arg key "$item" \
      '{elements: [{lease: $lease, opId: $op, cursor: {key: $key}, renew: true}]}')" | jq -e .ok >/dev/null || exit 1
  done && call complete "$(jq -nc --argjson lease "$lease" --arg op "$(op)" \
    '{elements: [{lease: $lease, opId: $op, isExhausted: true}]}')" >/dev/null
done
