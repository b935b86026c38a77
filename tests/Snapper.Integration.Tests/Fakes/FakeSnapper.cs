using System.Net;
using System.Text;
using System.Text.Json.Nodes;

namespace Snapper.Integration.Tests.Fakes;

/// <summary>How a fake system breaks its promises.</summary>
internal enum Flaw
{
    /// <summary>It keeps them.</summary>
    None,

    /// <summary>Some acknowledged appends are not made.</summary>
    LosesAppends,

    /// <summary>What an aborted transaction wrote stays.</summary>
    KeepsAbortedWrites,

    /// <summary>The same id runs again.</summary>
    ForgetsIds,

    /// <summary>Transactions that only read see an older state.</summary>
    ReadsStale,

    /// <summary>Transactions run on a copy from some time ago, and the last one wins.</summary>
    LosesUpdates,

    /// <summary>Transfers sometimes take without giving.</summary>
    LosesMoney,
}

/// <summary>
/// The contract's doors in a few lines: runs ListAppend and transfers of Account one by one, in this process. It proves the load and the checks: with
/// no flaw they must pass, with each flaw they must fail. Now and then it executes a request and hangs up without an answer.
/// </summary>
internal sealed class FakeSnapper : IDisposable
{
    private const int HangUpEvery = 40;
    private const int FlawEvery = 25;

    private readonly HttpListener _listener = new();
    private readonly Flaw _flaw;
    private readonly Lock _turn = new();
    private readonly Dictionary<string, JsonObject> _answers = [];
    private readonly Queue<Dictionary<string, List<long>>> _past = new();
    private Dictionary<string, List<long>> _lists = [];
    private readonly Dictionary<string, (decimal Checking, decimal Savings)> _accounts = [];
    private int _requests;
    private int _transactions;

    public FakeSnapper(Flaw flaw)
    {
        _flaw = flaw;
        Url = new Uri($"http://127.0.0.1:{FreePorts.Base(0)}/");
        _listener.Prefixes.Add(Url.ToString());
        _listener.Start();
        _ = Serve();
    }

    public Uri Url { get; }

    public SnapperClient Client() => new(Url, Url);

    public void Dispose() => _listener.Close();

    private async Task Serve()
    {
        while (_listener.IsListening)
        {
            HttpListenerContext context;
            try
            {
                context = await _listener.GetContextAsync();
            }
            catch (Exception closed) when (closed is HttpListenerException or ObjectDisposedException)
            {
                return;
            }

            _ = Task.Run(() => Answer(context));
        }
    }

    private void Answer(HttpListenerContext context)
    {
        var path = context.Request.Url!.AbsolutePath;
        var (status, answer) = context.Request.HttpMethod == "GET" ? Find(path) : Execute(path, JsonNode.Parse(context.Request.InputStream)!.AsObject());
        if (Interlocked.Increment(ref _requests) % HangUpEvery == 0)
        {
            context.Response.Abort();
            return;
        }

        var body = Encoding.UTF8.GetBytes(answer.ToJsonString());
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        context.Response.OutputStream.Write(body);
        context.Response.Close();
    }

    private (int Status, JsonObject Answer) Find(string path)
    {
        lock (_turn)
        {
            return _answers.TryGetValue(Uri.UnescapeDataString(path.Split('/')[^1]), out var answer) ? (200, answer) : (404, new JsonObject { ["status"] = 404 });
        }
    }

    private (int Status, JsonObject Answer) Execute(string path, JsonObject request)
    {
        lock (_turn)
        {
            if (request["transactions"] is JsonArray many)
            {
                return (200, new JsonObject { ["results"] = new JsonArray([.. many.Select(one => Once(one!.AsObject()).DeepClone())]) });
            }

            var isActorDoor = path.Contains("/actors/", StringComparison.Ordinal);
            if (isActorDoor)
            {
                var parts = path.Split('/');
                request["actor"] = new JsonObject { ["type"] = Uri.UnescapeDataString(parts[3]), ["id"] = Uri.UnescapeDataString(parts[4]) };
            }

            var answer = Once(request);
            return (isActorDoor || answer["outcome"]!.GetValue<string>() == "committed" ? 200 : 409, answer);
        }
    }

    private JsonObject Once(JsonObject request)
    {
        var id = request["id"]!.GetValue<string>();
        if (_flaw != Flaw.ForgetsIds && _answers.TryGetValue(id, out var known))
        {
            return known;
        }

        _past.Enqueue(Copy(_lists));
        var past = _past.Count > FlawEvery ? _past.Dequeue() : _past.Peek();
        var answer = new JsonObject { ["id"] = id, ["mode"] = request["mode"]?.DeepClone(), ["transaction"] = ++_transactions, ["attempts"] = 1 };
        try
        {
            answer["result"] = request["actor"]!["type"]!.GetValue<string>() == "Account" ? Bank(request) : Lists(request, past);
            answer["outcome"] = "committed";
        }
        catch (InvalidOperationException abort)
        {
            answer["outcome"] = "aborted";
            answer["abort"] = new JsonObject { ["reason"] = "application", ["message"] = abort.Message, ["retryable"] = false };
        }

        return _answers[id] = answer;
    }

    private JsonObject Lists(JsonObject request, Dictionary<string, List<long>> past)
    {
        var operations = request["input"]!["ops"]!.AsArray();
        var readOnly = operations.All(operation => operation!["value"] is null);
        var flawed = _transactions % FlawEvery == 0;
        var lists = (_flaw, flawed) switch
        {
            (Flaw.ReadsStale, true) when readOnly && !request["id"]!.GetValue<string>().StartsWith("final", StringComparison.Ordinal) => past,
            (Flaw.LosesUpdates, true) when !readOnly => Copy(past),
            _ => Copy(_lists),
        };
        var results = new JsonArray();
        foreach (var operation in operations)
        {
            var key = operation!["key"]!.GetValue<string>();
            var list = lists.TryGetValue(key, out var found) ? found : lists[key] = [];
            if (operation["value"] is { } value)
            {
                if (!(_flaw == Flaw.LosesAppends && flawed))
                {
                    list.Add(value.GetValue<long>());
                }

                results.Add(operation.DeepClone());
            }
            else
            {
                results.Add(new JsonObject { ["f"] = "r", ["key"] = key, ["value"] = new JsonArray([.. list.Select(element => JsonValue.Create(element))]) });
            }
        }

        var aborts = request["input"]!["abort"]?.GetValue<bool>() == true;
        if (lists != past && (!aborts || _flaw == Flaw.KeepsAbortedWrites))
        {
            _lists = lists;
        }

        return aborts ? throw new InvalidOperationException("asked to") : new JsonObject { ["ops"] = results };
    }

    /// <summary>Only what is needed: balances, and every other method as a transfer, a deposit or an abort.</summary>
    private JsonNode Bank(JsonObject request)
    {
        var account = request["actor"]!["id"]!.GetValue<string>();
        var mine = Account(account);
        var amount = request["input"]?["amount"]?.GetValue<decimal>() ?? 0;
        switch (request["method"]!.GetValue<string>())
        {
            case "Balance":
                return new JsonObject { ["checking"] = mine.Checking, ["savings"] = mine.Savings, ["total"] = mine.Checking + mine.Savings };
            case "DepositChecking":
                _accounts[account] = mine with { Checking = mine.Checking + amount };
                return JsonValue.Create(mine.Checking + amount);
            case "Transfer" or "SendPayment" when mine.Checking >= amount:
                _accounts[account] = mine with { Checking = mine.Checking - amount };
                var to = request["input"]!["to"]!.GetValue<string>();
                if (!(_flaw == Flaw.LosesMoney && _transactions % FlawEvery == 0))
                {
                    _accounts[to] = Account(to) with { Checking = Account(to).Checking + amount };
                }

                return JsonValue.Create(Account(account).Checking);
            default:
                throw new InvalidOperationException("not in this fake, or insufficient funds");
        }
    }

    private (decimal Checking, decimal Savings) Account(string id) => _accounts.TryGetValue(id, out var account) ? account : (10_000, 10_000);

    private static Dictionary<string, List<long>> Copy(Dictionary<string, List<long>> lists) => lists.ToDictionary(pair => pair.Key, pair => pair.Value.ToList());
}
