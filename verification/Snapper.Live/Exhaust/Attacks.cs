using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Snapper.Live.Exhaust;

/// <summary>What one caller with a token does who means ill. Each goes on until it is told to end.</summary>
internal sealed class Attacks(ExhaustSystem system) : IDisposable
{
    private const string Large = "large";

    private readonly HttpClient _client = ExhaustSystem.ClientOf(system.Attacker);
    private readonly Uri _transactions = new(system.Worker, "/v1/transactions");
    private int _next;
    private long _answered;

    /// <summary>Transactions of the attacker that were answered so far, whatever the outcome.</summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new(
            "declare", "1,000 PACTs of a request declare 256 unknown actors each",
            (a, end) => InTurn(1, a.DeclareUnknown, end)),
        new("reads", "250 reads of 0.9 MB with ids", (a, end) => InTurn(2, a.ReadWithIds, end)),
        new(
            "uploads", "40 uploads of 16 MiB stop before their last byte",
            (a, end) => AtOnce(40, a.StopUploading, end)),
        new("unread", "8 answers of 50 MB are not read", (a, end) => AtOnce(8, a.ReadNothing, end)),
        new("waits", "20 requests of 1,000 methods that wait 30 s", (a, end) => AtOnce(20, a.WaitLong, end)),
        new("ids", "10,000 new ids a second", (a, end) => InTurn(4, a.SendIds, end)),
        new("pacts", "500 PACTs of one actor each, in four loops", (a, end) => InTurn(4, a.SendPacts, end)),
    ];

    /// <summary>Attacks by name.</summary>
    /// <exception cref="FormatException">There is none of that name.</exception>
    public static IReadOnlyList<Attack> Named(IEnumerable<string> names) =>
        [.. names.Select(name => All.FirstOrDefault(attack => attack.Name == name)
            ?? throw new FormatException(
                $"There is no attack '{name}'; there are: {string.Join(", ", All.Select(attack => attack.Name))}."))];

    public Task Prepare(CancellationToken cancellation) => system.WriteLargeList(Large, cancellation);

    public void Dispose() => _client.Dispose();

    private static Task AtOnce(int count, Func<CancellationToken, Task> attack, CancellationToken end) =>
        Task.WhenAll(Enumerable.Range(0, count).Select(_ => Quietly(attack, end)));

    private static Task InTurn(int count, Func<CancellationToken, Task> attack, CancellationToken end) => AtOnce(
        count,
        async cancelled =>
        {
            while (!cancelled.IsCancellationRequested)
            {
                await Quietly(attack, cancelled);
            }
        },
        end);

    /// <summary>
    /// What becomes of the attacker's requests is not judged; a refusal makes it wait a little, as any client does.
    /// </summary>
    private static async Task Quietly(Func<CancellationToken, Task> attack, CancellationToken end)
    {
        try
        {
            await attack(end);
        }
        catch (Exception broken) when (
            broken is OperationCanceledException or HttpRequestException or IOException or SocketException)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(50), CancellationToken.None);
        }
    }

    private Task DeclareUnknown(CancellationToken end)
    {
        var request = Interlocked.Increment(ref _next);
        return Send(
            1000,
            i =>
            {
                var declared = string.Join(
                    "\",\"", Enumerable.Range(0, 256).Select(j => Text($"{request:x}.{i:x}.{j:x}")));
                return One(
                    "Account", Text($"{request:x}.{i:x}.0"), "Balance",
                        $",\"access\":{{\"Account\":[\"{declared}\"]}}");
            },
            end);
    }

    private Task ReadWithIds(CancellationToken end)
    {
        var request = Interlocked.Increment(ref _next);
        return Send(125, i => One("ListAppend", Large, "Read", Text($",\"id\":\"r{request}-{i}\"")), end);
    }

    private Task WaitLong(CancellationToken end)
    {
        var request = Interlocked.Increment(ref _next);
        const string input = ",\"input\":{\"ops\":[],\"delayMs\":30000}";
        return Send(1000, i => One("ListAppend", Text($"w{request}-{i}"), "Execute", input), end);
    }

    private Task SendIds(CancellationToken end)
    {
        var request = Interlocked.Increment(ref _next);
        return Send(
            500,
            i => One(
                "Account",
                Text($"i{i}"),
                "DepositChecking",
                Text($",\"input\":{{\"amount\":1}},\"id\":\"n{request}-{i}\"")),
            end);
    }

    private Task SendPacts(CancellationToken end) => Send(
        500,
        i => One(
            "Account",
            Text($"i{i}"),
            "DepositChecking",
            Text($",\"input\":{{\"amount\":1}},\"access\":{{\"Account\":[\"i{i}\"]}}")),
        end);

    private async Task StopUploading(CancellationToken end)
    {
        const int bytes = 16 << 20;
        using var connection = await Connect(end);
        await connection.SendAsync(Head(bytes), end);
        var part = new byte[1 << 20];
        Array.Fill(part, (byte)' ');
        for (var sent = 0; sent < bytes - part.Length; sent += part.Length)
        {
            await connection.SendAsync(part, end);
        }

        await connection.SendAsync(part.AsMemory(1), end);
        await Task.Delay(Timeout.Infinite, end);
    }

    private async Task ReadNothing(CancellationToken end)
    {
        var body = Batch(56, static _ => One("ListAppend", Large, "Read", ""));
        using var connection = await Connect(end);
        await connection.SendAsync(Head(body.Length), end);
        await connection.SendAsync(body, end);
        await Task.Delay(Timeout.Infinite, end);
    }

    private async Task<Socket> Connect(CancellationToken end)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(system.Worker.Host, system.Worker.Port, end);
        return socket;
    }

    private byte[] Head(int length) => Encoding.ASCII.GetBytes(
        $"POST /v1/transactions HTTP/1.1\r\nHost: {system.Worker.Authority}\r\n"
        + $"Authorization: Bearer {system.Attacker}\r\n"
        + Text($"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"));

    private async Task Send(int count, Func<int, string> transaction, CancellationToken end)
    {
        using var content = new ByteArrayContent(Batch(count, transaction));
        content.Headers.ContentType = new("application/json");
        using var request = new HttpRequestMessage(HttpMethod.Post, _transactions) { Content = content };
        using var answer = await _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, end);

        // It is not kept: those who work are in the same process, and would pay for the garbage.
        await answer.Content.CopyToAsync(Stream.Null, end);
        if (!answer.IsSuccessStatusCode)
        {
            throw new HttpRequestException("refused");
        }

        Interlocked.Add(ref _answered, count);
    }

    private static byte[] Batch(int count, Func<int, string> transaction) =>
        Encoding.UTF8.GetBytes(
            $$"""{"transactions":[{{string.Join(',', Enumerable.Range(0, count).Select(transaction))}}]}""");

    private static string One(string type, string id, string method, string more) =>
        $"{{\"actor\":{{\"type\":\"{type}\",\"id\":\"{id}\"}},\"method\":\"{method}\"{more}}}";

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

/// <summary>What one caller does.</summary>
/// <param name="Name">Of the command line.</param>
/// <param name="What">For the table.</param>
/// <param name="Run">Does it until it is told to end.</param>
internal sealed record Attack(string Name, string What, Func<Attacks, CancellationToken, Task> Run);
