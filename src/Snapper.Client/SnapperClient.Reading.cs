using System.Net.Http.Json;
using Snapper.Client.Messages;
using Snapper.Client.Sending;
using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Client;

/// <content>Reads of several actors at once.</content>
public sealed partial class SnapperClient
{
    /// <summary>
    /// The states of several actors as they were together at one point in the order of all transactions. Changes
    /// nothing, and is repeated until the timeout when a worker
    /// does not answer, or is overloaded.
    /// </summary>
    /// <param name="actors">1 to 256; see <see cref="Calls.ActorClient{TActor}.Key"/>.</param>
    /// <param name="timeout">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="ArgumentException">There is no actor, or there are more than 256; nothing was sent.</exception>
    /// <exception cref="OperationRefusedException">It cannot be read: the status and the detail say why.</exception>
    /// <exception cref="HttpRequestException">No worker answered in time.</exception>
    public async Task<StatesRead> Read(IReadOnlyList<ActorKey> actors, TimeSpan? timeout = null,
        CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(actors);
        if (actors.Count is 0 or > StatesRead.MostActors)
        {
            throw new ArgumentException($"A read names 1 to {StatesRead.MostActors} actors, got {actors.Count}.",
                nameof(actors));
        }

        ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested, this);
        var wait = CheckedTimeout(timeout);
        var until = Environment.TickCount64 + (long)wait.TotalMilliseconds;
        var backoff = new Backoff(_options.MinBackoff, _options.MaxBackoff, until);
        ActorReference[] names = [.. actors.Select(static actor => new ActorReference(actor.Type, actor.Id))];
        while (true)
        {
            var left = (int)Math.Max(1, until - Environment.TickCount64);
            var body = new ReadsRequest { Actors = names, TimeoutMs = left };
            var pause = default(TimeSpan?);
            try
            {
                var answer = await _operator.Ask(
                    HttpMethod.Post, "v1/reads", ContractJson.Default.ReadsView, () =>
                        JsonContent.Create(body, ContractJson.Default.ReadsRequest),
                    TimeSpan.FromMilliseconds(left) + _options.AnswerGrace, cancellation).ConfigureAwait(false);
                return new StatesRead(answer ?? throw new HttpRequestException("the worker answered null"),
                    _options.Json);
            }
            catch (Exception passing) when (IsPassing(passing) && (pause = backoff.Next()) is not null)
            {
                await Task.Delay(pause!.Value, cancellation).ConfigureAwait(false);
            }
        }
    }

    private static bool IsPassing(Exception exception) =>
        exception is HttpRequestException or OperationRefusedException { Status: 429 };
}
