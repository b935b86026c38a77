// What an application does that knows Dapr's JavaScript SDK alone; prints what came of each call, a line each.
//
//     node call.mjs PORT FROM TO KEY     the sidecar's port, two accounts, and the key of a list
import { ActorId, ActorProxyBuilder, DaprClient, LogLevel } from "@dapr/dapr";

// Their names are the actor types.
class Account {}
class ListAppend {}

const [daprPort, from, to, key] = process.argv.slice(2);
const client = new DaprClient({ daprHost: "127.0.0.1", daprPort, logger: { level: LogLevel.Error } });
const actor = (type, id) => new ActorProxyBuilder(type, client).build(new ActorId(id));

async function say(name, call) {
  try {
    console.log(JSON.stringify({ name, result: await call() }));
  } catch (error) {
    console.log(JSON.stringify({ name, error: error.message }));
  }
}

const account = actor(Account, from);
await say("transfer", () => account.Transfer({ to, amount: 10 }));
await say("abort", () => account.Transfer({ to, amount: 1_000_000 }));
await say("misfit", () => account.Transfer({ to, amount: "ten" }));
await say("two arguments", () => account.Transfer({ to, amount: 10 }, 10));
await say("balance", () => account.Balance());
await say("several", () => account.MultiTransfer({ to: [to, from], amount: 5 }));

const list = actor(ListAppend, key);
await say("append", () => list.Append({ value: 7 }));
await say("read", () => list.Read());
await client.stop();
