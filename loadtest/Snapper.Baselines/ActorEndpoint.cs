using System.Buffers;
using System.Buffers.Text;
using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Snapper.Baselines;

/// <summary>
/// Dapr's actor protocol for <see cref="PlainAccount"/>: one request delegate, no routing, no model binding.
/// What it promises is what plain actors promise: each balance stays whole, and nothing across accounts. A transfer whose deposit fails
/// has still withdrawn, other calls see the money on its way, and a restart forgets everything.
/// </summary>
public sealed class ActorEndpoint(SidecarCaller sidecar)
{
    /// <summary>The actor type, as Dapr knows it.</summary>
    public const string ActorType = "PlainAccount";

    private const string MethodPrefix = "/actors/" + ActorType + "/";
    private const string MethodPart = "/method/";

    // The depth counts concurrent calls of one id, and a call beyond it disables the actor: so it must never be reached.
    private static readonly byte[] Config = Encoding.UTF8.GetBytes(
        "{\"entities\":[\"" + ActorType + "\"],\"actorIdleTimeout\":\"1000h\",\"drainOngoingCallTimeout\":\"10s\",\"drainRebalancedActors\":true," +
        "\"reentrancy\":{\"enabled\":true,\"maxStackDepth\":1000000000}}");

    private static readonly byte[] Empty = "{}"u8.ToArray();
    private static readonly byte[] Healthy = "{\"status\":\"ok\"}"u8.ToArray();

    private readonly ConcurrentDictionary<string, PlainAccount> accounts = new(StringComparer.Ordinal);

    /// <summary>Answers one request of the sidecar.</summary>
    public Task HandleAsync(HttpContext context)
    {
        var path = context.Request.Path.Value ?? "/";
        if (path.StartsWith(MethodPrefix, StringComparison.Ordinal))
        {
            return HandleActorAsync(context, path);
        }

        return path switch
        {
            "/dapr/config" => WriteAsync(context, 200, Config),
            "/healthz" => WriteAsync(context, 200, Healthy),
            _ => WriteAsync(context, 404, Empty),
        };
    }

    /// <summary>The account of that id; made at its first use.</summary>
    public PlainAccount Account(string id) => accounts.GetOrAdd(id, static _ => new PlainAccount());

    private Task HandleActorAsync(HttpContext context, string path)
    {
        var rest = path.AsSpan(MethodPrefix.Length);
        var slash = rest.IndexOf('/');
        if (slash < 0)
        {
            if (HttpMethods.IsDelete(context.Request.Method))
            {
                // Deactivation: Dapr would load the state again at the next use; there is none, so it is kept.
                return WriteAsync(context, 200, Empty);
            }

            return WriteAsync(context, 404, Empty);
        }

        var account = Find(rest[..slash]);
        var after = rest[slash..];
        if (!after.StartsWith(MethodPart, StringComparison.Ordinal))
        {
            return WriteAsync(context, 404, Empty);
        }

        return after[MethodPart.Length..] switch
        {
            "Noop" => WriteAsync(context, 200, Empty),
            "Deposit" => DepositAsync(context, account),
            "MultiTransfer" => MultiTransferAsync(context, account),
            "Balance" => WriteAsync(context, 200, BalanceJson(account.Balance)),
            _ => WriteAsync(context, 404, Empty),
        };
    }

    private PlainAccount Find(ReadOnlySpan<char> id)
    {
        // No string for an account that is known.
        var lookup = accounts.GetAlternateLookup<ReadOnlySpan<char>>();
        return lookup.TryGetValue(id, out var account) ? account : Account(id.ToString());
    }

    private static async Task DepositAsync(HttpContext context, PlainAccount account)
    {
        if (await ReadInputAsync(context) is not { } input)
        {
            return;
        }

        await WriteAsync(context, 200, BalanceJson(account.Deposit(input.Amount)));
    }

    private async Task MultiTransferAsync(HttpContext context, PlainAccount account)
    {
        if (await ReadInputAsync(context) is not { } input)
        {
            return;
        }

        if (!account.TryWithdraw(input.Amount * input.To.Length, out var left))
        {
            // Dapr turns any status but 200 into a bare 500, so a refusal is an answer.
            await WriteAsync(context, 200, "{\"error\":\"insufficient funds\"}"u8.ToArray());
            return;
        }

        var body = SidecarCaller.DepositBody(input.Amount);
        var deposits = new Task[input.To.Length];
        for (var i = 0; i < deposits.Length; i++)
        {
            deposits[i] = sidecar.DepositAsync(input.To[i], body);
        }

        try
        {
            await Task.WhenAll(deposits);
        }
        catch (HttpRequestException failure)
        {
            // The withdrawal and perhaps some deposits stay: that is what doing without transactions means.
            await WriteAsync(context, 500, JsonSerializer.SerializeToUtf8Bytes(failure.Message, BaselineJson.Default.String));
            return;
        }

        await WriteAsync(context, 200, BalanceJson(left));
    }

    private static async ValueTask<TransferInput?> ReadInputAsync(HttpContext context)
    {
        var body = context.Request.BodyReader;
        while (true)
        {
            var read = await body.ReadAsync();
            if (!read.IsCompleted)
            {
                body.AdvanceTo(read.Buffer.Start, read.Buffer.End);
                continue;
            }

            try
            {
                var input = TransferInput.Read(read.Buffer);
                body.AdvanceTo(read.Buffer.End);
                return input;
            }
            catch (JsonException wrong)
            {
                body.AdvanceTo(read.Buffer.End);
                await WriteAsync(context, 400, JsonSerializer.SerializeToUtf8Bytes(wrong.Message, BaselineJson.Default.String));
                return null;
            }
        }
    }

    private static byte[] BalanceJson(decimal balance)
    {
        Span<byte> buffer = stackalloc byte[64];
        "{\"balance\":"u8.CopyTo(buffer);
        Utf8Formatter.TryFormat(balance, buffer[11..], out var written);
        buffer[11 + written] = (byte)'}';
        return buffer[..(written + 12)].ToArray();
    }

    private static Task WriteAsync(HttpContext context, int status, byte[] body)
    {
        var response = context.Response;
        response.StatusCode = status;
        response.ContentType = "application/json";
        response.ContentLength = body.Length;
        response.BodyWriter.Write(body);
        return response.BodyWriter.FlushAsync().AsTask();
    }
}
