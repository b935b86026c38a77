using System.Text.Json;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Benchmarks.Suite;

/// <summary>Our sides in this process: a worker on any log.</summary>
/// <param name="context">Of the benchmark.</param>
/// <param name="door">Of the worker.</param>
/// <param name="log">What the log is, for the names.</param>
/// <param name="processes">Whose CPU time counts besides this one's.</param>
internal sealed class DoorSides(
    BenchmarkContext context, ITransactionService door, string log, IReadOnlyList<MeasuredProcess> processes)
{
    private const string Role = "runtime and driver";
    private const int ReadTogether = 500;

    private readonly ITransactionService _door = door;
    private readonly ActorKey[] _keys = TransferRequests.Keys(context.Options.Accounts);
    private int _runs;

    /// <summary>Transfers.</summary>
    public Side Transfers(TransactionKind kind, double zipf)
    {
        var chooser = context.Transfers(zipf);
        var shapes = context.Options.Pipelines.Select(static loops => new LoadShape(loops)).ToArray();
        return new Side(
            $"Snapper {kind.ToString().ToUpperInvariant()}, {log}",
            shapes,
            (_, seed) => new Pipeline(this, chooser, kind, seed),
            processes)
        {
            OwnRole = Role,
            AbortsAllowed = kind == TransactionKind.Act,
            Check = async () => Balances.Judge(await SumAsync(), _keys.Length),
        };
    }

    /// <summary>Hot lists.</summary>
    public Side Lists(ListMix mix) => ListSide.Of(
        $"Snapper {mix.Name}, {log}",
        new LoadShape(HotList.Clients),
        () => $"p{++_runs}",
        (run, seed) => new ListPipeline(run, transaction => Execute(transaction, mix.Next()), seed),
        ReadAsync,
        processes) with { OwnRole = Role, AbortsAllowed = mix.HasActs };

    private async ValueTask<TransactionEnd> Execute(ListTransaction transaction, TransactionMode mode) =>
        TransferRequests.EndOf(await _door.Submit(ListRequests.Of(transaction, mode), CancellationToken.None));

    private async Task<IReadOnlyList<long>> ReadAsync(string list) =>
        JsonSerializer.Deserialize<long[]>((await CallAsync(ListRequests.KeyOf(list), "Read")).Span)!;

    private async Task<decimal> SumAsync()
    {
        var sum = 0m;
        foreach (var some in _keys.Chunk(ReadTogether))
        {
            foreach (var balance in await Task.WhenAll(some.Select(key => CallAsync(key, "Balance"))))
            {
                using var json = JsonDocument.Parse(balance);
                sum += json.RootElement.GetProperty("checking").GetDecimal();
            }
        }

        return sum;
    }

    private async Task<ReadOnlyMemory<byte>> CallAsync(ActorKey actor, string method)
    {
        var envelope = await _door.Submit(
            new TransactionRequest
            {
                Actor = actor, Method = method, Mode = TransactionMode.Pact, Access = [new(actor, 1)],
            },
            CancellationToken.None);
        return envelope.Outcome == Outcome.Committed
            ? envelope.Result
            : throw new InvalidOperationException(
                $"{actor} could not be read: {TransferRequests.EndOf(envelope).Reason}");
    }

    private sealed class Pipeline(DoorSides sides, IAccountChooser chooser, TransactionKind kind, ulong seed)
        : IPipeline
    {
        private FastRandom _random = new(seed);

        public async ValueTask RunOnceAsync(Tally tally)
        {
            var request = TransferRequests.Of(sides._keys, kind, Transfer.Draw(chooser, ref _random));
            var end = TransferRequests.EndOf(await sides._door.Submit(request, CancellationToken.None));
            end.CountIn(tally, kind == TransactionKind.Act);
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
