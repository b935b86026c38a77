"""python3 place.py [SIDECAR] [NAME]     Python 3.9 or later, nothing else."""
import json
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Optional


@dataclass
class Outcome:
    """kind is one of:

    committed  result is what the method returned
    refused    by the application: code and details are its own words
    later      nothing happened; the same may succeed later
    rejected   a mistake of the caller: status and message say which
    in doubt   it may have committed: keep the id, and ask, or send the same again
    """
    kind: str
    result: Any = None
    code: Optional[str] = None
    details: Any = None
    status: int = 0
    message: str = ""


def transact(app: str, request: dict, timeout: float = 30.0) -> Outcome:
    """Runs a transaction until it has an outcome, or the time is over. Its id makes each sending after the first harmless."""
    end = time.monotonic() + timeout
    may_have_run = ask = False
    pause = 0.05
    while True:
        left = max(end - time.monotonic(), 0.001)
        status, retry_after, body = 0, 0.0, {}
        try:
            if ask:
                status, retry_after, body = http(f"{app}/v1/transactions/{urllib.parse.quote(request['id'], safe='')}", left)
            if status in (0, 404):
                # 404: it is not known, which decides nothing while it is under way. Sending it again does.
                sent = json.dumps({**request, "timeoutMs": max(int(left * 1000), 1)}).encode()
                status, retry_after, body = http(f"{app}/v1/transactions", left, sent)
        except (OSError, HTTPException):
            status, body = 0, {}  # no answer: it may have been executed

        outcome, abort = body.get("outcome"), body.get("abort") or {}
        of_worker = str(body.get("type", "")).startswith("urn:snapper:")
        if outcome == "committed":
            return Outcome("committed", result=body.get("result"))
        if outcome == "aborted" and not abort["retryable"]:
            return Outcome("refused", code=abort.get("code"), details=abort.get("details"), message=abort["message"])
        if outcome == "aborted" or (status in (429, 503) and of_worker):
            # This sending was not executed; an earlier one may have been.
            ask = may_have_run and outcome != "aborted"
        elif 400 <= status < 500:
            if may_have_run:
                return Outcome("in doubt")
            return Outcome("rejected", status=status, message=body.get("detail", ""))
        else:
            # No answer, in doubt, running, or the sidecar's own word, which tells nothing of the worker.
            may_have_run = ask = True

        wait = max(retry_after, pause * random.uniform(0.5, 1))
        if time.monotonic() + wait >= end:
            return Outcome("in doubt") if may_have_run else Outcome("later", message=abort.get("message", ""))
        time.sleep(wait)
        pause = min(2 * pause, 1.0)


def http(url: str, timeout: float, body: Optional[bytes] = None):
    """Status, seconds to wait, and what the body says."""
    request = urllib.request.Request(url, data=body, headers={"content-type": "application/json"})
    try:
        answer = urllib.request.urlopen(request, timeout=timeout + 2)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        text = answer.read()
        retry_after = float(answer.headers.get("retry-after") or 0)
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = {"detail": text.decode(errors="replace")}
        return answer.status, retry_after, parsed


def place(app: str, order: str, customer: str, lines, timeout: float = 30.0) -> str:
    outcome = transact(app, {
        "actor": {"type": "Order", "id": order},
        "method": "Place",
        "input": {"customer": customer, "lines": lines} if lines is not None else {"customer": customer},
        "id": f"place-{order}",
    }, timeout)
    if outcome.kind == "committed":
        return f"committed {outcome.result['total']:.2f}"
    if outcome.kind == "refused":
        return f"refused {outcome.code or outcome.message}"
    if outcome.kind == "rejected":
        return f"rejected {outcome.status}"
    return outcome.kind


def main():
    sidecar, name = (sys.argv[1:] + ["http://127.0.0.1:3500", "py"][len(sys.argv) - 1:])[:2]
    app = f"{sidecar.rstrip('/')}/v1.0/invoke/orders/method"
    lines = [{"article": "tea", "count": 2}, {"article": "cup", "count": 1}]
    print(f"{name}-1 {place(app, f'{name}-1', name, lines)}")
    print(f"{name}-1 {place(app, f'{name}-1', name, lines)}")  # the same id again: the same order
    print(f"{name}-2 {place(app, f'{name}-2', name, [{'article': 'tea', 'count': 1000}])}")
    print(f"{name}-3 {place(app, f'{name}-3', name, None)}")
    print(f"{name}-4 {place(app, f'{name}-4', name, lines, 5.0)}")


if __name__ == "__main__":
    main()
