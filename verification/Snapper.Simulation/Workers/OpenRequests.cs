using Snapper.Runtime.Door;

namespace Snapper.Simulation.Workers;

/// <summary>
/// Requests that a worker has taken and not answered: as long as its process lives, each must hear something soon after its timeout, also from a worker that has
/// failed or was stopped. Looked at each so often, without an event of its own.
/// </summary>
/// <param name="world">The run.</param>
/// <param name="roads">What may be added by messages between workers that are lost, in ticks.</param>
internal sealed class OpenRequests(IClientWorld world, long roads = 0)
{
    // Deadlines are looked at again after a second; what an executor that stands still adds is far below the other one.
    private static readonly long s_grace = TimeSpan.FromSeconds(2).Ticks;
    private static readonly long s_interval = TimeSpan.FromMilliseconds(250).Ticks;

    private readonly List<Waiting> _waiting = [];

    /// <summary>When to look next, in virtual ticks.</summary>
    public long NextLook { get; private set; } = long.MaxValue;

    public void Add(IRequestTarget worker, TransactionRequest request, Task answer)
    {
        _waiting.Add(new Waiting(worker, request, answer, world.Now + request.Timeout.Ticks + s_grace + roads));
        NextLook = Math.Min(NextLook, world.Now + s_interval);
    }

    public void Look()
    {
        var kept = 0;
        for (var i = 0; i < _waiting.Count; i++)
        {
            var waiting = _waiting[i];
            if (waiting.Answer.IsCompleted || waiting.Worker.Scope.IsDead)
            {
                continue;
            }

            if (waiting.Worker.IsStill)
            {
                // It counts from when the process goes on.
                waiting = waiting with { WasStill = true, Until = Math.Max(waiting.Until, world.Now + s_interval + s_grace) };
            }
            else if (waiting.WasStill)
            {
                // The last look may be long ago: nothing happened meanwhile.
                waiting = waiting with { WasStill = false, Until = Math.Max(waiting.Until, world.Now + s_grace + roads) };
            }
            else if (waiting.Until < world.Now)
            {
                world.Violated(
                    $"A request to {waiting.Request.Actor} (id {waiting.Request.Id ?? "generated"}) with a timeout of {waiting.Request.Timeout.TotalMilliseconds} ms is still not answered {(s_grace + roads) / TimeSpan.TicksPerMillisecond} ms after it; {waiting.Worker.Standing}.");
                continue;
            }

            _waiting[kept++] = waiting;
        }

        _waiting.RemoveRange(kept, _waiting.Count - kept);
        NextLook = kept > 0 ? world.Now + s_interval : long.MaxValue;
    }

    private readonly record struct Waiting(IRequestTarget Worker, TransactionRequest Request, Task Answer, long Until, bool WasStill = false);
}
