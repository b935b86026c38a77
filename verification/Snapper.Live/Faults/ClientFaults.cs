using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using Snapper.Live.Harness;
using Snapper.Live.Rounds;

namespace Snapper.Live.Faults;

/// <summary>Clients from which others must be protected.</summary>
internal static class ClientFaults
{
    private static readonly string[] Nonsense =
    [
        "", "null", "{", "not json", "[]", "{\"method\":\"Balance\"}", "{\"actor\":{\"type\":\"Account\",\"id\":\"a\"},\"method\":\"NoSuchMethod\"}",
        "{\"actor\":{\"type\":\"NoSuchType\",\"id\":\"a\"},\"method\":\"Balance\"}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":{\"amount\":NaN}}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":{\"amount\":1e400}}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":{\"amount\":79228162514264337593543950335}}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":{\"amount\":1},\"timeoutMs\":99999999999999999999}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":{\"amount\":1},\"access\":{\"Account\":{\"poison\":-1}}}",
        "{\"actor\":{\"type\":\"Account\",\"id\":\"poison\"},\"method\":\"DepositChecking\",\"input\":" + new string('[', 500),
    ];

    /// <summary>They run on the very actors of the probes: whoever is slow to read must not keep a lock.</summary>
    public static async Task SlowClients(Strike strike)
    {
        strike.Mark();
        var time = strike.Between(1500, 3000);
        await Task.WhenAll(Enumerable.Range(0, 24).Select(i => Task.Run(() => SlowClient(strike, i, time))));
        strike.Detail = "24 clients";
    }

    public static async Task HugePayload(Strike strike)
    {
        strike.Mark();
        foreach (var door in new[] { Door.Direct, Door.Service })
        {
            var bytes = 4_000_000 + strike.Random.Next(60_000_000);
            strike.Detail += $"{bytes / 1_000_000} MB ";
            var body = Encoding.UTF8.GetBytes($"{{\"actor\":{{\"type\":\"Account\",\"id\":\"huge\"}},\"method\":\"DepositChecking\",\"input\":{{\"amount\":1,\"x\":\"{new string('x', bytes)}\"}}}}");
            var answer = await strike.System.Client.SubmitRaw(body, door);

            // A server may close the connection instead of reading on; then there is no answer. daprd has words of its own.
            if (answer.Status is not (413 or null) && !(door == Door.Service && answer.Status >= 400))
            {
                strike.Problems.Enqueue($"{bytes} bytes at door {door} were answered by {answer}");
            }
        }
    }

    public static async Task Poison(Strike strike)
    {
        strike.Mark();
        foreach (var body in Nonsense)
        {
            foreach (var door in new[] { Door.Direct, Door.Service })
            {
                var answer = await strike.System.Client.SubmitRaw(body, door);
                if (answer.Status is not (>= 400 and < 500))
                {
                    strike.Problems.Enqueue($"{(body.Length > 200 ? body[..200] : body)} at door {door} was answered by {answer}");
                }
            }
        }

        strike.Detail = $"{Nonsense.Length} bodies";
    }

    public static async Task WrongDeclaration(Strike strike)
    {
        strike.Mark();
        var client = strike.System.Client;
        var name = $"declared-{strike.Random.Next()}";
        var tooFew = await client.Submit(Accounts.Transfer(name, Prober.AccountOf(Door.Direct), 1).Pact(), Door.Direct);
        var tooManyCalls = await client.Submit(Accounts.MultiTransfer(name, [$"{name}-1", $"{name}-1"], 1).Pact($"{name}-1"), Door.Service);
        foreach (var answer in new[] { tooFew, tooManyCalls })
        {
            if (answer.Verdict != Verdict.Aborted || answer.AbortReason != "undeclared")
            {
                strike.Problems.Enqueue($"A transaction that touched more than it had declared was answered by {answer}");
            }
        }

        // Declares the actors of all probes, and touches none of them.
        var tooMany = await client.Submit(Accounts.Amount("DepositChecking", name, 1).Pact(Prober.Doors.Select(Prober.AccountOf)), Door.Direct);
        if (tooMany.Verdict != Verdict.Committed)
        {
            strike.Problems.Enqueue($"A transaction that declared more than it touched was answered by {tooMany}");
        }

        await strike.Wait(TimeSpan.FromMilliseconds(300));
    }

    public static async Task SlowUserCode(Strike strike)
    {
        strike.Mark();
        var client = strike.System.Client;
        var key = $"slow-{strike.Random.Next()}";
        var execute = strike.Random.Next(2) == 0
            ? Lists.ExecutePact(key, [Lists.Append(key, 1)], delayMs: 20_000)
            : Lists.Execute(key, [Lists.Append(key, 1)], delayMs: 20_000).Act();
        var slow = client.Submit(execute, Door.Direct);
        await strike.Wait(TimeSpan.FromMilliseconds(100));
        var asked = Stopwatch.GetTimestamp();
        var others = await Task.WhenAll(client.Submit(Lists.AppendTo(key, 2).Pact(), Door.Service), client.Submit(Lists.AppendTo(key, 3).Act(), Door.Direct));
        strike.Measured = Stopwatch.GetElapsedTime(asked);
        strike.Detail = execute.Mode ?? "";
        foreach (var other in others.Where(other => other.Verdict != Verdict.Committed))
        {
            strike.Problems.Enqueue($"Whoever waited for slow user code was answered by {other}");
        }

        if (await slow is var ended && (ended.Verdict != Verdict.Aborted || ended.AbortReason != "timeout"))
        {
            strike.Problems.Enqueue($"User code beyond the turn bound was answered by {ended}");
        }
    }

    private static async Task SlowClient(Strike strike, int i, TimeSpan time)
    {
        var started = Stopwatch.GetTimestamp();
        var door = i % 2 == 0 ? Door.Direct : Door.Service;
        var address = door == Door.Direct ? strike.System.Client.Worker : strike.System.Client.Sidecar;
        var path = door == Door.Direct ? "/v1/transactions" : "/v1.0/invoke/snapper/method/v1/transactions";
        var transaction = Accounts.Amount("DepositChecking", Prober.AccountOf(door), 1);
        var body = ((i % 3) == 0 ? transaction.Pact() : transaction.Act()).ToJson().ToJsonString();
        var request = Encoding.ASCII.GetBytes($"POST {path} HTTP/1.1\r\nHost: {address.Authority}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}");
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveBufferSize = 2048 };
        try
        {
            await socket.ConnectAsync("127.0.0.1", address.Port, strike.Cancellation);
            if (i % 4 < 2)
            {
                for (var at = 0; at < request.Length && Stopwatch.GetElapsedTime(started) < time; at++)
                {
                    await socket.SendAsync(request.AsMemory(at, 1), strike.Cancellation);
                    await Task.Delay(i % 4 == 0 ? 5 : 100, strike.Cancellation);
                }
            }
            else
            {
                await socket.SendAsync(request, strike.Cancellation);
                while (Stopwatch.GetElapsedTime(started) < time && await socket.ReceiveAsync(new byte[1], strike.Cancellation) > 0)
                {
                    await Task.Delay(1000, strike.Cancellation);
                }
            }
        }
        catch (SocketException)
        {
            // The server has no more patience with it: its right.
        }
    }
}
