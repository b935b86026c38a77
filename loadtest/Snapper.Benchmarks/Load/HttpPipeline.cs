using System.Net.Sockets;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Load;

/// <summary>What a load generator sends, and how it reads the answers.</summary>
public sealed record HttpWorkload(Uri Target, RequestTemplate Template, IAccountChooser Chooser, IAnswerReader Answers);

/// <summary>A closed loop over one connection.</summary>
public sealed class HttpPipeline : IPipeline
{
    private readonly HttpWorkload workload;
    private readonly byte[] request;
    private readonly int[] accounts;
    private FastRandom random;
    private HttpConnection? connection;

    /// <param name="workload">What to send.</param>
    /// <param name="seed">Decides the accounts of this connection.</param>
    public HttpPipeline(HttpWorkload workload, ulong seed)
    {
        this.workload = workload;
        request = workload.Template.NewBuffer();
        accounts = new int[workload.Template.Width * workload.Template.Transactions];
        random = new FastRandom(seed);
    }

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        Prepare();
        try
        {
            connection ??= await HttpConnection.OpenAsync(workload.Target);
            var answer = await connection.ExchangeAsync(request);
            workload.Answers.Read(answer, workload.Template.Transactions, tally);
        }
        catch (Exception broken) when (broken is SocketException or InvalidDataException or ObjectDisposedException)
        {
            connection?.Dispose();
            connection = null;
            tally.Error($"connection: {broken.Message}", workload.Template.Transactions);

            // A peer that is gone must not turn this loop into a busy one.
            await Task.Delay(20);
        }
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync()
    {
        connection?.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Prepare()
    {
        var width = workload.Template.Width;
        for (var i = 0; i < accounts.Length; i += width)
        {
            workload.Chooser.Draw(ref random, accounts.AsSpan(i, width));
        }

        workload.Template.Fill(request, accounts);
    }
}
