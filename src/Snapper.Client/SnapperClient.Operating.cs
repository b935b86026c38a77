using System.Net.Http.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.Contracts;

namespace Snapper.Client;

/// <content>For operators: the workers as one system, and moving actors between them.</content>
public sealed partial class SnapperClient
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(50);

    /// <summary>The workers, by number; none: there is one alone.</summary>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    public async Task<IReadOnlyList<ClusterMember>> Workers(CancellationToken cancellation = default) =>
        (await Ask(HttpMethod.Get, "v1/workers", ContractJson.Default.WorkersView, null, cancellation).ConfigureAwait(false))
            ?.Workers ?? [];

    /// <summary>
    /// Begins to move actors, partitions or everything of a worker, or to give every worker its share. Transactions go on meanwhile. It is repeated with the same id when an answer
    /// was lost, which changes nothing.
    /// </summary>
    /// <returns>The migration as it was planned; with <see cref="MigrationRequest.DryRun"/> as it would be.</returns>
    /// <exception cref="ArgumentException">Not exactly one of the things that can move is named.</exception>
    /// <exception cref="OperationRefusedException">It cannot be: the detail says why.</exception>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    public async Task<MigrationStatus> Migrate(MigrationRequest request, CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        if (!request.NamesOneThing)
        {
            throw new ArgumentException(
                "Exactly one of Actors, Partitions, Worker and Rebalance says what shall move.", nameof(request));
        }

        var body = request with { Id = request.Id ?? _ids.Next() };
        return await Ask(HttpMethod.Post, "v1/migrations", ContractJson.Default.MigrationStatus, body, cancellation)
            .ConfigureAwait(false) ?? throw new HttpRequestException("the worker answered null");
    }

    /// <summary>A migration; null: there is none of that id, or it is forgotten.</summary>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    public Task<MigrationStatus?> FindMigration(string id, CancellationToken cancellation = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        var path = "v1/migrations/" + Uri.EscapeDataString(id);
        return Ask(HttpMethod.Get, path, ContractJson.Default.MigrationStatus, null, cancellation);
    }

    /// <summary>What the policy that proposes moves sees and proposes; it moves nothing unless the workers are configured to.</summary>
    /// <returns>Null: there is one worker alone.</returns>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    public Task<MigrationProposals?> MigrationProposals(CancellationToken cancellation = default) =>
        Ask(HttpMethod.Get, "v1/migrations/proposals", ContractJson.Default.MigrationProposals, null, cancellation);

    /// <summary>Migrations that are under way, and those that ended last.</summary>
    /// <exception cref="HttpRequestException">No worker answered.</exception>
    public async Task<IReadOnlyList<MigrationStatus>> Migrations(CancellationToken cancellation = default) =>
        (await Ask(HttpMethod.Get, "v1/migrations", ContractJson.Default.MigrationsView, null, cancellation)
            .ConfigureAwait(false))?.Migrations ?? [];

    /// <summary>Waits until a migration is over, also when workers come and go meanwhile.</summary>
    /// <param name="id">Of the migration.</param>
    /// <param name="timeout">How long.</param>
    /// <param name="cancellation">Ends the wait, not the migration.</param>
    /// <returns>As it is when it has ended, or the time has.</returns>
    /// <exception cref="OperationRefusedException">There is no such migration.</exception>
    /// <exception cref="HttpRequestException">When the time was over, no worker answered.</exception>
    public async Task<MigrationStatus> WaitForMigration(string id, TimeSpan timeout, CancellationToken cancellation = default)
    {
        var until = Environment.TickCount64 + (long)timeout.TotalMilliseconds;
        while (true)
        {
            try
            {
                var found = await FindMigration(id, cancellation).ConfigureAwait(false) ?? throw new OperationRefusedException(404, $"There is no migration '{id}'.");
                if (found.IsOver || Environment.TickCount64 >= until)
                {
                    return found;
                }
            }
            catch (HttpRequestException) when (Environment.TickCount64 < until)
            {
                // Its workers are the ones that move things; one may just be starting.
            }

            await Task.Delay(s_look, cancellation).ConfigureAwait(false);
        }
    }

    private Task<T?> Ask<T>(
        HttpMethod method, string path, JsonTypeInfo<T> form, MigrationRequest? body, CancellationToken cancellation)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested, this);
        Func<HttpContent>? content = body is null ? null : () =>
            JsonContent.Create(body, ContractJson.Default.MigrationRequest);
        return _operator.Ask(method, path, form, content, _options.Timeout, cancellation);
    }
}
