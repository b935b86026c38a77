using Snapper.Cluster.Control;
using Snapper.Cluster.Wire;
using Snapper.Contracts;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Directory;
using Snapper.Runtime.Inspection;
using Snapper.Simulation.Core;

namespace Snapper.Simulation.Cluster;

/// <summary>Makes what was planned happen. What finds nothing to strike does not count.</summary>
internal sealed class Operators(ClusterWorld world)
{
    private const int SenderOrAfter = 1000;

    private readonly List<PlannedClusterFault> _armed = [];
    private readonly SeededChance _chance = SeededChance.For(world.Cluster.Seed, ChanceOf.Operators);
    private int _migrations;

    /// <summary>A planned fault's time has come.</summary>
    public void Strike(PlannedClusterFault fault)
    {
        if (world.IsHealed)
        {
            return;
        }

        var until = world.Now + Ticks(fault.ForMs);
        var other = 1 + ((fault.Worker + fault.Detail) % world.Cluster.Workers);
        switch (fault.Kind)
        {
            case ClusterFaultKind.CrashAtStep or ClusterFaultKind.PauseAtStep or ClusterFaultKind.CrashAtMessage or ClusterFaultKind.PauseAtMessage:
                _armed.Add(fault);
                break;
            case ClusterFaultKind.MasterCrash or ClusterFaultKind.MasterLost:
                if (world.Processes.FirstOrDefault(static process => process.IsMaster) is { } master)
                {
                    Count(fault);
                    world.End(master, Ticks(fault.ForMs));
                }

                break;
            case ClusterFaultKind.StoreDown:
                Count(fault);
                world.SharedStore.DownUntil = until;
                break;
            case ClusterFaultKind.StoreCut:
                Count(fault);
                world.SharedStore.CutUntil[fault.Worker] = until;
                break;
            case ClusterFaultKind.StoreAnswersCut:
                Count(fault);
                world.SharedStore.MuteUntil[fault.Worker] = until;
                break;
            case ClusterFaultKind.StoreFull:
                Count(fault);
                world.SharedStore.FullUntil[fault.Worker] = until;
                break;
            case ClusterFaultKind.StoreClockStepped:
                Count(fault);
                world.StoreClock.Step(Step(fault));
                break;
            case ClusterFaultKind.ClockStepped:
                Count(fault);
                world.ClockOf(fault.Worker).Step(Step(fault));
                break;
            case ClusterFaultKind.ClockDrifts:
                Count(fault);
                world.ClockOf(fault.Worker).Drift(world.Now, (fault.Detail % 101) - 50);
                break;
            case ClusterFaultKind.StoreSaysLost or ClusterFaultKind.StoreSaysStale:
                world.SharedStore.Mislead(fault.Worker, until, fault.Kind); // counted when somebody asks
                break;
            case ClusterFaultKind.RollingRestart when !world.IsAlone:
                Count(fault);
                RestartFrom(fault, 1);
                break;
            case ClusterFaultKind.NetworkCut when other != fault.Worker:
                Count(fault);
                world.Network.Cut(fault.Worker, other, until);
                world.Network.Cut(other, fault.Worker, until);
                break;
            case ClusterFaultKind.NetworkCutOneWay when other != fault.Worker:
                Count(fault);
                world.Network.Cut(fault.Worker, other, until);
                break;
            case ClusterFaultKind.Isolated:
                Count(fault);
                for (var worker = 1; worker <= ClusterScenario.MostWorkers; worker++)
                {
                    world.Network.Cut(fault.Worker, worker, until);
                    world.Network.Cut(worker, fault.Worker, until);
                }

                break;
            case ClusterFaultKind.ActorsMoved or ClusterFaultKind.PartitionsMoved or ClusterFaultKind.WorkerDrained:
                Move(fault);
                break;
            case ClusterFaultKind.WorkerJoined when !world.IsAlone:
                Join(fault);
                break;
            case ClusterFaultKind.PlaceDamaged:
                DamagePlace(fault, until);
                break;
            case ClusterFaultKind.StoreLosesTail:
                var kept = world.KeepStore();
                world.After(Ticks(fault.ForMs), null, () =>
                {
                    if (!world.IsHealed)
                    {
                        Count(fault);
                        world.LoseStore(kept);
                    }
                });
                break;
            default:
                if (world.CurrentOf(fault.Worker) is { } process)
                {
                    Strike(fault, process);
                }

                break;
        }
    }

    /// <summary>Nothing more is struck.</summary>
    public void Heal() => _armed.Clear();

    /// <summary>A process is at a step with the shared store: it may end here.</summary>
    /// <returns>True: the step does not happen any more.</returns>
    public bool AtStep(StoreStep step, ClusterProcess process, bool after)
    {
        for (var i = 0; i < _armed.Count && !process.Scope.IsDead; i++)
        {
            var fault = _armed[i];
            if (fault.Kind is ClusterFaultKind.CrashAtStep or ClusterFaultKind.PauseAtStep && fault.Detail % SenderOrAfter == (int)step && fault.Detail >= SenderOrAfter == after)
            {
                _armed.RemoveAt(i);
                Hit(fault, process, fault.Kind == ClusterFaultKind.CrashAtStep);
                return fault.Kind == ClusterFaultKind.CrashAtStep;
            }
        }

        return false;
    }

    /// <summary>A packet is about to be taken: its sender, or whoever takes it, may end a moment later.</summary>
    public void AtMessages(byte[] packet, ClusterProcess from, ClusterProcess to)
    {
        for (var i = 0; i < _armed.Count; i++)
        {
            var fault = _armed[i];
            if (fault.Kind is not (ClusterFaultKind.CrashAtMessage or ClusterFaultKind.PauseAtMessage) || !Holds(packet, (WireKind)(fault.Detail % SenderOrAfter)))
            {
                continue;
            }

            _armed.RemoveAt(i--);
            var struck = fault.Detail >= SenderOrAfter ? from : to;
            world.After(_chance.Percent(50) ? 0 : _chance.Between(0, 2 * TimeSpan.TicksPerMillisecond), null, () =>
            {
                if (!struck.Scope.IsDead && !world.IsHealed)
                {
                    Hit(fault, struck, fault.Kind == ClusterFaultKind.CrashAtMessage);
                }
            });
        }
    }

    private static bool Holds(byte[] bytes, WireKind kind)
    {
        if (ChannelPacket.TryRead(bytes, out var packet, out _))
        {
            foreach (var message in packet)
            {
                if (message.Span[0] == (byte)kind)
                {
                    return true;
                }
            }
        }

        return false;
    }

    private void Hit(PlannedClusterFault fault, ClusterProcess process, bool crash)
    {
        Count(fault);
        if (crash)
        {
            world.End(process, Ticks(fault.ForMs));
        }
        else
        {
            world.PauseFor(process, Ticks(fault.ForMs));
        }
    }

    private void Strike(PlannedClusterFault fault, ClusterProcess process)
    {
        switch (fault.Kind)
        {
            case ClusterFaultKind.WorkerCrash or ClusterFaultKind.WorkerLost:
                Count(fault);
                world.End(process, Ticks(fault.ForMs));
                break;
            case ClusterFaultKind.WorkerPause or ClusterFaultKind.WorkerPausedLong:
                Count(fault);
                world.PauseFor(process, Ticks(fault.ForMs));
                break;
            case ClusterFaultKind.WorkerReplaced:
                Count(fault);
                if (fault.Detail % 2 == 0)
                {
                    world.PauseFor(process, Ticks(fault.ForMs));
                }

                world.Start(fault.Worker);
                break;
            case ClusterFaultKind.GracefulRestart when process.IsOpen && !process.Scope.IsPaused:
                Count(fault);
                process.Stop().Then(_ => world.After(0, null, () => EndStopped(process, fault)));
                break;
            case ClusterFaultKind.WorkerSilent when process.IsOpen:
                Count(fault);
                process.SilentUntil = world.Now + Ticks(fault.ForMs);
                process.StallAll(process.SilentUntil);
                world.After(Ticks(fault.ForMs) + 1, null, static () => { }); // so that time goes on to the end of it
                break;
            case ClusterFaultKind.ExecutorStall when process.Executors.Length > 0:
                Count(fault);
                process.Stall(fault.Detail, world.Now + Ticks(fault.ForMs));
                world.After(Ticks(fault.ForMs) + 1, null, static () => { }); // so that time goes on to the end of it
                break;
        }
    }

    /// <summary>Each is stopped when the one before takes requests again, or after a while: whoever restarts them does not wait for ever.</summary>
    private void RestartFrom(PlannedClusterFault fault, int number, int looks = 0)
    {
        if (world.IsHealed || number > world.Cluster.Workers)
        {
            return;
        }

        if (world.CurrentOf(number) is { IsOpen: true, Scope.IsPaused: false } process)
        {
            world.Update(number);
            process.Stop().Then(_ => world.After(0, null, () => EndStopped(process, fault)));
            world.After(Ticks(fault.ForMs) + TimeSpan.TicksPerMillisecond, null, () => WaitFor(process));
        }
        else
        {
            world.Update(number); // when it comes back
            RestartFrom(fault, number + 1);
        }

        void WaitFor(ClusterProcess stopped)
        {
            var isBack = world.CurrentOf(number) is { IsOpen: true } back && back != stopped;
            if (isBack || ++looks > 200)
            {
                RestartFrom(fault, number + 1);
                return;
            }

            world.After(20 * TimeSpan.TicksPerMillisecond, null, () => WaitFor(stopped));
        }
    }

    private void EndStopped(ClusterProcess process, PlannedClusterFault fault)
    {
        if (!process.Scope.IsDead)
        {
            world.End(process, Ticks(fault.ForMs));
        }
    }

    /// <summary>A worker that was not there from the beginning; a while later it gets what another one has.</summary>
    private void Join(PlannedClusterFault fault)
    {
        var number = Math.Min(world.Cluster.Workers + 1, ClusterScenario.MostWorkers);
        if (world.CurrentOf(number) is null)
        {
            Count(fault);
            world.StartLater(number, 0);
        }

        world.After(Ticks(fault.ForMs), null, () => Move(fault with { Kind = ClusterFaultKind.PartitionsMoved, Worker = number }));
    }

    private void Move(PlannedClusterFault fault)
    {
        var open = world.Processes.Where(static process => process.IsOpen && !process.IsAlone && !process.Scope.IsPaused).ToList();
        if (open.Count == 0 || world.IsHealed)
        {
            return;
        }

        var asked = open[fault.Detail % open.Count];
        var to = $"w{fault.Worker}";
        var first = fault.Detail % world.Actors.Count;
        var actors = world.Actors.Skip(first).Take(1 + (fault.Detail % 3)).ToList();
        var ask = new MigrationAsk($"m{++_migrations}", null, null, null, to, "simulated", DryRun: false);
        ask = fault.Kind switch
        {
            ClusterFaultKind.ActorsMoved => ask with { Actors = actors },
            ClusterFaultKind.PartitionsMoved => ask with { Partitions = [.. actors.Select(actor => world.PartitionOf(actor).Number).Distinct()] },
            _ => ask with { Worker = to, To = null },
        };
        Count(fault);
        Task<MigrationStatus> made = null!;
        asked.Scope.Do(() => made = asked.Control!.Migrate(ask, CancellationToken.None));
        made.Then(done =>
        {
            if (done.Exception?.GetBaseException() is { } exception && exception is not (MigrationRefusedException or StorageUnavailableException))
            {
                world.Violated($"{ask} failed: {exception}");
            }
        });
    }

    /// <summary>
    /// Something else lies where a state was, and its owner mostly has to recover around it, or others have to. Half of
    /// the time it is one with a change in doubt, as soon as there is one.
    /// </summary>
    private void DamagePlace(PlannedClusterFault fault, long until, int looks = 0)
    {
        var doubtful = world.LogRules.Doubtful;
        if (fault.Detail % 2 == 1 && doubtful.Count == 0 && looks < 300 && !world.IsHealed)
        {
            world.After(TimeSpan.TicksPerMillisecond, null, () => DamagePlace(fault, until, looks + 1));
            return;
        }

        var states = world.Shared.Log(1).States.Keys.Order().ToList();
        if (states.Count == 0 || world.IsHealed || until <= world.Now)
        {
            return;
        }

        Count(fault);
        var actor = states[fault.Detail % states.Count];
        var worker = world.Shared.Owner(DirectoryKey.Of(actor, world.PartitionOf(actor))).Worker;
        if (fault.Detail % 2 == 1 && doubtful.Count > 0)
        {
            (worker, actor) = doubtful[fault.Detail % doubtful.Count];
        }

        world.DamagePlaceUntil(actor, until);
        if (fault.Detail % 4 != 0 && world.CurrentOf(worker) is { } process)
        {
            world.End(process, Ticks(fault.Detail % 4 == 1 ? fault.ForMs / 2 : fault.ForMs * 2));
        }
    }

    private void Count(PlannedClusterFault fault) => world.Happened.Note(fault.Kind);

    private static long Step(PlannedClusterFault fault) => fault.Detail % 2 == 0 ? Ticks(fault.ForMs) : -Ticks(fault.ForMs);

    private static long Ticks(int milliseconds) => milliseconds * TimeSpan.TicksPerMillisecond;
}
