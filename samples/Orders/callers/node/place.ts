// node place.ts [SIDECAR] [NAME]     Node 22.18 or later runs TypeScript as it is.

type Answer = { status: number; retryAfter: number; body: any };

export type Outcome =
  | { kind: "committed"; result: any }
  | { kind: "refused"; code?: string; details?: any; message: string } // by the application
  | { kind: "later"; message: string } // nothing happened
  | { kind: "rejected"; status: number; message: string } // a mistake of the caller
  | { kind: "in doubt"; id: string }; // it may have committed: keep the id, and ask or send again

/** Runs a transaction until it has an outcome, or the time is over. Its id makes each sending after the first harmless. */
export async function transact(app: string, request: any, timeoutMs = 30_000): Promise<Outcome> {
  const end = Date.now() + timeoutMs;
  let mayHaveRun = false;
  let ask = false;
  for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
    const left = Math.max(end - Date.now(), 1);
    let answer: Answer | undefined;
    try {
      if (ask) answer = await http(`${app}/v1/transactions/${encodeURIComponent(request.id)}`, left);
      // 404: it is not known, which decides nothing while it is under way. Sending it again does.
      if (!answer || answer.status === 404) {
        answer = await http(`${app}/v1/transactions`, left, JSON.stringify({ ...request, timeoutMs: left }));
      }
    } catch {
      mayHaveRun = ask = true; // no answer: it may have been executed
    }

    const { outcome, abort, result, detail = "", type = "" } = answer?.body ?? {};
    const ofWorker = String(type).startsWith("urn:snapper:");
    if (outcome === "committed") return { kind: "committed", result };
    if (outcome === "aborted" && !abort.retryable) {
      return { kind: "refused", code: abort.code, details: abort.details, message: abort.message };
    }

    if (outcome === "aborted" || (answer && [429, 503].includes(answer.status) && ofWorker)) {
      ask = mayHaveRun && outcome !== "aborted"; // this sending was not executed; an earlier one may have been
    } else if (answer && answer.status < 500 && answer.status !== 200) {
      return mayHaveRun ? { kind: "in doubt", id: request.id } : { kind: "rejected", status: answer.status, message: detail };
    } else {
      mayHaveRun = ask = true; // in doubt, running, or the sidecar's own word, which tells nothing of the worker
    }

    const wait = Math.max(answer?.retryAfter ?? 0, pause * (0.5 + Math.random() / 2));
    if (Date.now() + wait >= end) {
      return mayHaveRun ? { kind: "in doubt", id: request.id } : { kind: "later", message: abort?.message ?? detail };
    }

    await new Promise(done => setTimeout(done, wait));
  }
}

async function http(url: string, timeoutMs: number, body?: string): Promise<Answer> {
  const answer = await fetch(url, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(timeoutMs + 2000),
  });
  const retryAfter = 1000 * Number(answer.headers.get("retry-after") ?? 0);
  const text = await answer.text();
  try {
    return { status: answer.status, retryAfter, body: JSON.parse(text) };
  } catch {
    return { status: answer.status, retryAfter, body: { detail: text } };
  }
}

async function place(app: string, order: string, customer: string, lines: unknown, timeoutMs = 30_000) {
  const outcome = await transact(
    app,
    { actor: { type: "Order", id: order }, method: "Place", input: { customer, lines }, id: `place-${order}` },
    timeoutMs,
  );
  switch (outcome.kind) {
    case "committed":
      return `committed ${outcome.result.total.toFixed(2)}`;
    case "refused":
      return `refused ${outcome.code ?? outcome.message}`;
    case "rejected":
      return `rejected ${outcome.status}`;
    default:
      return outcome.kind;
  }
}

const [sidecar = "http://127.0.0.1:3500", name = "ts"] = process.argv.slice(2);
const app = `${sidecar.replace(/\/$/, "")}/v1.0/invoke/orders/method`;
const lines = [{ article: "tea", count: 2 }, { article: "cup", count: 1 }];
console.log(`${name}-1 ${await place(app, `${name}-1`, name, lines)}`);
console.log(`${name}-1 ${await place(app, `${name}-1`, name, lines)}`); // the same id again: the same order
console.log(`${name}-2 ${await place(app, `${name}-2`, name, [{ article: "tea", count: 1000 }])}`);
console.log(`${name}-3 ${await place(app, `${name}-3`, name, undefined)}`);
console.log(`${name}-4 ${await place(app, `${name}-4`, name, lines, 5000)}`);
