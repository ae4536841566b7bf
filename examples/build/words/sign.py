"""Writes words.json: the words with their signatures. What was signed before comes from the cache."""
import hashlib
import hmac
import json
import pathlib
import sys

key = pathlib.Path(sys.argv[1]).read_bytes()
cache = pathlib.Path(sys.argv[2])
words = pathlib.Path("words.txt").read_text().split()
signed = {}
reused = 0
for word in words:
    known = cache / hashlib.sha256(key + word.encode()).hexdigest()
    if known.exists():
        reused += 1
    else:
        known.write_text(hmac.new(key, word.encode(), "sha256").hexdigest())
    signed[word] = known.read_text()
pathlib.Path("words.json").write_text(json.dumps(signed))
print(f"signed {len(words)} words, {reused} of them from the cache")
