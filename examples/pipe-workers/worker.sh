#!/bin/sh
while IFS= read -r request; do
  id=$(printf '%s' "$request" | jq .id)
  if result=$(printf '%s' "$request" | jq '.item.line | ascii_upcase'); then
    printf '{"id":%s,"result":%s}\n' "$id" "$result"
  else
    printf '{"id":%s,"error":"jq failed"}\n' "$id"
  fi
done
