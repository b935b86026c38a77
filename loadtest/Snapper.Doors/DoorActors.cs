using System.Text.Json;
using Dapr.Actors;
using Dapr.Actors.Runtime;
using Snapper.Apps.SmallBank.Contract;
using Snapper.AspNetCore.Hosting;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.Doors;

/// <summary>An account as an actor of Dapr's SDK, which reads and writes the JSON.</summary>
public interface ITypedAccount : IActor
{
    /// <summary>A deposit.</summary>
    Task<decimal> DepositChecking(AmountInput input, CancellationToken cancellation);

    /// <summary>A transfer to three others.</summary>
    Task<decimal> MultiTransfer(MultiTransferInput input, CancellationToken cancellation);
}

/// <summary>
/// As a generator would write it: one class of the SDK for each actor type, whose methods are the type's. Without the
/// door's rights, places and budgets of bytes.
/// </summary>
/// <param name="host">Of the SDK.</param>
/// <param name="parts">The worker.</param>
internal sealed class TypedAccount(ActorHost host, WorkerParts parts) : Actor(host), ITypedAccount
{
    public Task<decimal> DepositChecking(AmountInput input, CancellationToken cancellation) =>
        Run<AmountInput, decimal>("DepositChecking", input, cancellation);

    public Task<decimal> MultiTransfer(MultiTransferInput input, CancellationToken cancellation) =>
        Run<MultiTransferInput, decimal>("MultiTransfer", input, cancellation);

    private async Task<TResult> Run<TInput, TResult>(string method, TInput input, CancellationToken cancellation)
    {
        var envelope = await parts.Door.Submit(
            new TransactionRequest
            {
                Actor = new ActorKey("Account", Id.GetId()),
                Method = method,
                Input = JsonSerializer.SerializeToUtf8Bytes(input, JsonSerializerOptions.Web),
                Mode = TransactionMode.Act,
                AccessSource = AccessSource.Open,
                Timeout = TimeSpan.FromSeconds(30),
            },
            cancellation);
        return envelope.Outcome == Outcome.Committed
            ? JsonSerializer.Deserialize<TResult>(envelope.Result.Span, JsonSerializerOptions.Web)!
            : throw new InvalidOperationException($"{envelope.Abort?.Reason}: {envelope.Abort?.Message}");
    }
}

/// <summary>An actor of Dapr's SDK whose methods are all one: it passes the request on as it came.</summary>
public interface IPassingAccount : IActor
{
    /// <summary>The one method.</summary>
    Task Pass();
}

/// <summary>
/// One class for all actor types: our own door behind the SDK's activation, turn and dispatch. What the SDK would read
/// and write is left alone.
/// </summary>
internal class PassingAccount(ActorHost host) : Actor(host), IPassingAccount
{
    public Task Pass() => PassedRequest.Current!.Go();
}

/// <summary>Makes one actor for all ids, since it has no use for the id.</summary>
internal sealed class OneForAll : ActorActivator
{
    private ActorActivatorState? _one;

    public override Task<ActorActivatorState> CreateAsync(ActorHost host) =>
        Task.FromResult(_one ??= new ActorActivatorState(new PassingAccount(host)));

    public override Task DeleteAsync(ActorActivatorState state) => Task.CompletedTask;
}
