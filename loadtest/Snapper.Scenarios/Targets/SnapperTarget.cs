using Snapper.Client;
using Snapper.Client.Messages;
using Snapper.Contracts;
using Snapper.Failures;
using Snapper.Terminal;

namespace Snapper.Scenarios.Targets;

/// <summary>
/// A running system, called as applications call it: by the product's own client, which finds the worker that owns the root, and asks for what it lost sight of. Aborts are not repeated by
/// the client, so that they can be counted.
/// </summary>
public sealed class SnapperTarget : ILoadTarget, IAsyncDisposable
{
    private static readonly TimeSpan s_leftIn = TimeSpan.FromSeconds(30);

    private readonly TargetSettings _settings;
    private readonly List<SnapperClient> _retired = [];
    private volatile SnapperClient _client;
    private volatile Uri[] _addresses;

    private SnapperTarget(TargetSettings settings, Uri[] addresses)
    {
        _settings = settings;
        _addresses = addresses;
        _client = Make(addresses);
    }

    /// <summary>The addresses that are called now.</summary>
    public IReadOnlyList<Uri> Addresses => _addresses;

    /// <summary>For operators' calls.</summary>
    public SnapperClient Client => _client;

    /// <summary>Every address is one of this machine.</summary>
    public bool IsLoopback => _addresses.All(static address => address.IsLoopback);

    /// <summary>Connects, and finds the other workers.</summary>
    /// <exception cref="TargetException">Nobody answers.</exception>
    public static async Task<SnapperTarget> Connect(TargetSettings settings, CancellationToken cancellation)
    {
        var target = new SnapperTarget(settings, settings.Sidecar is { } sidecar ? [sidecar] : [.. settings.Workers]);
        try
        {
            await target.Refresh(cancellation).ConfigureAwait(false);
            return target;
        }
        catch (Exception problem) when (problem is HttpRequestException or OperationRefusedException)
        {
            await target.DisposeAsync().ConfigureAwait(false);
            throw new TargetException($"No worker answers at {string.Join(", ", target._addresses.Select(static address => address.AbsoluteUri))}: {problem.Message.TrimEnd('.')}. Start one with './snapper up', or name another with --url.");
        }
    }

    /// <summary>Looks who is there now; new workers are called from then on.</summary>
    /// <returns>All workers; none: there is one alone.</returns>
    /// <exception cref="HttpRequestException">Nobody answers.</exception>
    public async Task<IReadOnlyList<ClusterMember>> Refresh(CancellationToken cancellation)
    {
        var members = await _client.Workers(cancellation).ConfigureAwait(false);
        if (!_settings.Discovers || _settings.Sidecar is not null)
        {
            return members;
        }

        Uri[] live = [.. members.Where(static member => member.State == "live" && member.Url.Length > 0).Select(static member => new Uri(member.Url)).Distinct()];
        if (live.Length > 0 && !live.ToHashSet().SetEquals(_addresses))
        {
            var before = _client;
            (_client, _addresses) = (Make(live), live);
            _retired.Add(before); // it ends with us: transactions of its own are still under way
        }

        return members;
    }

    /// <inheritdoc/>
    public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation) => _client.Submit(request, cancellation);

    /// <inheritdoc/>
    public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => _client.Find(id, cancellation);

    /// <summary>Waits until a worker is there, in that state or in any.</summary>
    /// <exception cref="TimeoutException">It is not; the message says what was seen last.</exception>
    public async Task<ClusterMember> Await(string what, Func<ClusterMember, bool> which, CancellationToken cancellation)
    {
        var until = Environment.TickCount64 + (long)s_leftIn.TotalMilliseconds;
        var seen = "nobody answered";
        while (Environment.TickCount64 < until)
        {
            try
            {
                var members = await Refresh(cancellation).ConfigureAwait(false);
                if (members.FirstOrDefault(which) is { } found)
                {
                    return found;
                }

                seen = string.Join(", ", members.Select(static member => $"{member.Worker} {member.State} epoch {member.Epoch} owns {member.Entries}"));
            }
            catch (HttpRequestException problem)
            {
                seen = problem.Message;
            }

            await Task.Delay(50, cancellation).ConfigureAwait(false);
        }

        throw new TimeoutException($"{what} did not come about within {s_leftIn.TotalSeconds:0} s; last: {seen}.");
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (var client in _retired)
        {
            await client.DisposeAsync().ConfigureAwait(false);
        }

        await _client.DisposeAsync().ConfigureAwait(false);
    }

    private SnapperClient Make(Uri[] addresses) => new(new SnapperClientOptions
    {
        Sidecar = _settings.Sidecar ?? new Uri("http://127.0.0.1:3500"),
        Workers = _settings.Sidecar is null ? addresses : [],
        Timeout = _settings.Timeout,
        MaxConcurrentRequests = _settings.Connections,
        RepeatsAborted = false,
    });
}

/// <summary>The system under test cannot be used as asked; the message says why, and what to do.</summary>
public sealed class TargetException(string message) : CommandException(message);
