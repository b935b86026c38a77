using Snapper.Cluster.Mailboxes;
using Snapper.Runtime.Execution;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Workers;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;

namespace Snapper.Simulation.Cluster;

/// <summary>The lives of the workers: how they begin, fail, stay away, and come back.</summary>
internal sealed partial class ClusterWorld
{
    private const long MuchLater = 5 * TimeSpan.TicksPerSecond;

    private readonly Seat?[] _seats = new Seat?[ClusterScenario.MostWorkers + 2];
    private readonly WallClock[] _clocks = [.. Enumerable.Range(0, ClusterScenario.MostWorkers + 2).Select(static _ => new WallClock())];
    private int _lives;

    /// <summary>There is one worker, which knows nothing of others.</summary>
    public bool IsAlone { get; private set; }

    /// <summary>The clock on a worker's machine.</summary>
    public WallClock ClockOf(int number) => _clocks[number];

    /// <summary>The latest life of a worker; null: it does not live.</summary>
    public ClusterProcess? CurrentOf(int number) => _seats[number]?.Current;

    /// <summary>Whoever listens under the name of a worker.</summary>
    public (ClusterProcess Process, MailboxHub Hub)? HubOf(int number) =>
        _seats[number] is { Hub: { } hub, Listener: { Scope.IsDead: false } listener } ? (listener, hub) : null;

    /// <summary>A life of a worker can be spoken to from now on; an earlier one cannot any more.</summary>
    public void Listens(ClusterProcess process, MailboxHub hub)
    {
        var seat = SeatOf(process.Number);
        if (seat.Listener is null || seat.Listener.Life <= process.Life)
        {
            (seat.Listener, seat.Hub) = (process, hub);
        }
    }

    /// <summary>A client goes to any worker; it cannot tell which of them live.</summary>
    public override IRequestTarget? Route(bool misrouted)
    {
        var open = misrouted || _routes.Percent(10) ? Processes : Processes.FindAll(static process => process.IsOpen);
        var target = open.Count == 0 ? null : open[_routes.Next(open.Count)];
        if (misrouted && target is not null)
        {
            Faults.Note(FaultKind.RequestMisrouted);
        }

        return target;
    }

    /// <summary>Begins a life of a worker after a while, unless one has begun meanwhile.</summary>
    public void StartLater(int number, long pause)
    {
        var seat = SeatOf(number);
        seat.IsAway = false;
        seat.BackAt = Now + pause;
        After(pause, null, () =>
        {
            if (seat.Current is null)
            {
                Start(number);
            }
        });
    }

    /// <summary>Begins a life of a worker, beside an earlier one if that is not over.</summary>
    public void Start(int number)
    {
        var process = new ClusterProcess(this, number, ++_lives);
        SeatOf(number).Current = process;
        Processes.Add(process);
        process.Start();
    }

    /// <summary>Ends a life; if it was the worker's latest, another begins.</summary>
    /// <param name="process">The life.</param>
    /// <param name="pause">After so long; or not before everything is healed, or never.</param>
    public void End(ClusterProcess process, long pause)
    {
        process.Crash();
        Processes.Remove(process);
        var seat = SeatOf(process.Number);
        if (seat.Current != process)
        {
            return;
        }

        seat.Current = null;
        if (pause >= PlannedClusterFault.ForGood * Millisecond)
        {
            // One that it was to replace goes on, if it died before it fenced it.
            seat.Current = Processes.FindLast(other => other.Number == process.Number);
            seat.IsAway = seat.Current is null;
        }
        else
        {
            StartLater(process.Number, pause);
        }
    }

    /// <summary>The first lives: of all workers, or of one alone, which becomes one of several after a while.</summary>
    private void Begin()
    {
        IsAlone = Cluster.AloneMs > 0;
        for (var number = 1; number <= (IsAlone ? 1 : Cluster.Workers); number++)
        {
            StartLater(number, Chance.Between(0, 20 * Millisecond));
        }

        if (IsAlone)
        {
            After(Cluster.AloneMs * Millisecond, null, BecomeSeveral);
        }
    }

    /// <summary>The one that was alone is stopped, or killed, and all begin on what it has stored.</summary>
    private void BecomeSeveral()
    {
        if (!IsAlone)
        {
            return;
        }

        if (CurrentOf(1) is not { IsOpen: true, Scope.IsPaused: false } alone || Cluster.Seed % 3 == 0)
        {
            Divide(); // killed, or dead already
            return;
        }

        alone.Stop().Then(_ => After(0, null, Divide));
        After(2 * Cluster.AloneMs * Millisecond + TimeSpan.TicksPerSecond, null, BecomeSeveral); // it may have died meanwhile
    }

    private void Divide()
    {
        if (!IsAlone)
        {
            return;
        }

        IsAlone = false;
        Happened.Note(ClusterFaultKind.OneBecameSeveral);
        foreach (var process in Processes.ToArray())
        {
            End(process, Chance.Between(0, 20 * Millisecond));
        }

        for (var number = 1; number <= Cluster.Workers; number++)
        {
            StartLater(number, Chance.Between(0, 20 * Millisecond));
        }
    }

    /// <summary>A worker stands still, and goes on as if nothing had been.</summary>
    public void PauseFor(ClusterProcess process, long duration)
    {
        process.Scope.Pause();
        After(duration, null, process.Scope.GoOn);
    }

    public void StartFailed(ClusterProcess process, Exception exception)
    {
        if (exception is not IOException && !IsFenced(process, exception) && !IsOfAnEarlierServer(process))
        {
            Violated($"w{process.Number} (life {process.Life}) could not start: {exception}");
        }

        End(process, Chance.Between(Millisecond, 50 * Millisecond));
    }

    public void WorkerFailed(ClusterProcess process, Exception exception)
    {
        if (!IsFenced(process, exception) && !IsOfAnEarlierServer(process))
        {
            Violated($"w{process.Number} (life {process.Life}) stopped: {exception}");
        }

        // Not inside its own step: the process ends a moment later, as a real one does. Whoever starts it again may be slow.
        var pause = Chance.Between(Millisecond, (Chance.Percent(20) ? 3 * Cluster.LeaseMs : 50) * Millisecond);
        After(Chance.Between(0, Millisecond), null, () =>
        {
            if (!process.Scope.IsDead)
            {
                End(process, pause);
            }
        });
    }

    /// <summary>Nothing goes wrong any more; who is away comes back, or stays away for good as long as others live.</summary>
    private void Heal()
    {
        HealedAt = Now;
        Shared.Log(1).DamagedPlaces.Clear();
        PlacesGoodSince = Math.Min(PlacesGoodSince, Now);
        Rare.End();
        SharedStore.Heal();
        Network.Heal();
        Operators.Heal();
        foreach (var process in Processes.ToArray())
        {
            if (process.IsSilent)
            {
                process.SilentUntil = 0;
                process.StallAll(0);
            }

            process.Scope.GoOn();
        }

        BecomeSeveral();
        UpdateTheRest();

        // Before the directory is divided, all of the first ones are waited for.
        var lives = Processes.Count > 0 || Array.Exists(_seats, static seat => seat is { IsAway: false });
        for (var number = 0; number < _seats.Length; number++)
        {
            // One that was to come back much later comes back now.
            if (_seats[number] is { Current: null } seat && (seat.IsAway ? !lives || Shared.Version == 0 || Cluster.Seed % 2 == 0 : seat.BackAt > Now + MuchLater))
            {
                StartLater(number, Chance.Between(Millisecond, 50 * Millisecond));
                lives = true;
            }
        }
    }

    /// <summary>It found itself fenced, and is: its log is at a later epoch.</summary>
    private bool IsFenced(ClusterProcess process, Exception exception)
    {
        var status = exception switch
        {
            LogLostFailure failure => failure.Status,
            LogLostException lost => lost.Status,
            _ => (AppendStatus?)null,
        };
        return (status is AppendStatus.Gap && process.WasMisled)
            || status is AppendStatus.Fenced or AppendStatus.RescuerFenced && (process.Host is null || process.WasMisled || Shared.Log(process.Number).Epoch > process.Host.Opening.Epoch);
    }

    private Seat SeatOf(int number) => _seats[number] ??= new Seat();

    /// <summary>The place of a worker, whoever lives in it.</summary>
    private sealed class Seat
    {
        public ClusterProcess? Current { get; set; }

        public ClusterProcess? Listener { get; set; }

        public MailboxHub? Hub { get; set; }

        /// <summary>It stays away.</summary>
        public bool IsAway { get; set; }

        /// <summary>When its next life is to begin.</summary>
        public long BackAt { get; set; }
    }
}
