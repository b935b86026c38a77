using Snapper.Simulation.Core;
using Snapper.Simulation.Running;
using Snapper.Simulation.Storage;
using Snapper.Simulation.Workers;
using Snapper.Storage.Remembering;

namespace Snapper.Simulation.Faults;

/// <summary>Makes one planned fault happen. One that finds nothing to strike does not count.</summary>
internal sealed class FaultInjector(World world, PlannedFault fault)
{
    private readonly long _duration = fault.ForMs * TimeSpan.TicksPerMillisecond;

    public void Strike()
    {
        if (world.IsHealed || world.Owner is not { } owner)
        {
            return;
        }

        switch (fault.Kind)
        {
            case FaultKind.WorkerCrash:
                Count();
                world.Restart(owner, _duration / 10);
                break;
            case FaultKind.CrashInRecovery:
                CrashInRecovery(owner);
                break;
            case FaultKind.WorkerPause:
                Count();
                Pause(owner, _duration);
                break;
            case FaultKind.TwoOwners:
                TwoOwners(owner);
                break;
            case FaultKind.GracefulRestart:
                Stop(owner);
                break;
            case FaultKind.ExecutorStall when owner.IsOpen:
                Count();
                owner.Stall(world.Chance.Next(owner.Executors.Length), world.Now + (_duration / 4));
                world.After((_duration / 4) + 1, null, static () => { }); // so that time goes on to the end of it
                break;
            case FaultKind.LogDamaged:
                world.Restart(owner, _duration / 10);
                if (world.Scenario.Files != 0)
                {
                    world.EndOthers(); // one that stood still in a call would work on what is damaged
                }

                if (world.Scenario.Files != 0 ? world.Folder.Damage() : world.Storage.Damage())
                {
                    world.LogIsDamaged();
                    Count();
                }

                break;
            case FaultKind.PlaceDamaged when world.Storage.DamagePlaceUntil(world.Now + _duration):
                Count();
                if (fault.ForMs % 3 != 0)
                {
                    world.Restart(owner, _duration / 10); // it has to recover around the place
                }

                break;
            case FaultKind.LogLost:
                LoseLog(owner);
                break;
            case FaultKind.MachineCrash when world.Chance.Percent(25):
                world.CrashMachine(_duration / 10);
                break;
            case FaultKind.MachineCrash or FaultKind.CrashInDiskCall or FaultKind.DiskFull or FaultKind.DiskWriteFails or FaultKind.DiskFlushFails
                or FaultKind.DiskFolderFlushFails or FaultKind.DiskReadFails or FaultKind.DiskStall:
                world.Machine.Plan(fault.Kind);
                break;
            case FaultKind.StorageFull:
                world.Storage.FullUntil = world.Now + _duration;
                break;
            case FaultKind.StorageDown:
                world.Storage.DownUntil = world.Now + _duration;
                break;
            case FaultKind.StorageOlder when world.Scenario.Files == 0:
                world.Storage.MisleadUntil(world.Now + _duration);
                break;
        }
    }

    private void CrashInRecovery(SimulatedWorker owner)
    {
        world.Restart(owner, 0);
        world.After(world.Chance.Between(1, 2 * TimeSpan.TicksPerMillisecond), null, () =>
        {
            if (world.Owner is { IsRecovering: true } recovering)
            {
                Count();
                if (fault.ForMs % 4 == 0)
                {
                    world.StartWorker(); // another one opens the log while this one reads it
                }
                else
                {
                    world.Restart(recovering, _duration / 10);
                }
            }
        });
    }

    private void Pause(SimulatedWorker worker, long duration)
    {
        worker.Scope.Pause();
        world.After(duration, null, worker.Scope.GoOn);
    }

    /// <summary>The supervisor takes a worker for dead that is not: it goes on, perhaps after a sleep, until the fence stops it.</summary>
    private void TwoOwners(SimulatedWorker owner)
    {
        if (!owner.IsOpen)
        {
            return;
        }

        if (world.Scenario.Files != 0 && world.Machine.Chance.Percent(60))
        {
            // Between two steps of a call, in which it holds a lock and has looked at the epoch.
            world.Machine.Plan(FaultKind.DiskStall);
            AnotherOwnerInTheStall(owner, tries: 100);
            return;
        }

        Count();
        if (world.Chance.Percent(60))
        {
            Pause(owner, world.Chance.Between(0, _duration));
        }

        world.StartWorker();
    }

    private void AnotherOwnerInTheStall(SimulatedWorker owner, int tries)
    {
        if (world.IsHealed || world.Owner != owner || !owner.IsOpen || tries == 0)
        {
            return;
        }

        if (!world.Machine.HasPlans)
        {
            Count();
            world.StartWorker();
            return;
        }

        world.After(TimeSpan.TicksPerMillisecond, null, () => AnotherOwnerInTheStall(owner, tries - 1));
    }

    private void Stop(SimulatedWorker owner)
    {
        if (!owner.IsOpen || owner.Scope.IsPaused)
        {
            return;
        }

        Count();
        owner.Stop().Then(_ => world.After(0, null, () => world.Restart(owner, _duration / 10)));
    }

    /// <summary>
    /// A copy is made now and comes back later, or nothing does. With a server the worker may live on, and finds out by itself; a folder changes while none
    /// runs. An owner that was replaced ends: nobody can keep it from believing in what it knew.
    /// </summary>
    private void LoseLog(SimulatedWorker owner)
    {
        var files = world.Scenario.Files != 0;
        if (!files && world.Chance.Percent(40))
        {
            LoseChanges((int)(_duration / TimeSpan.TicksPerMillisecond));
            return;
        }

        if (files)
        {
            world.Folder.KeepCopy();
        }
        else
        {
            world.Storage.KeepCopy();
        }

        world.After(_duration, null, () =>
        {
            if (world.IsHealed || world.Owner is not { } now)
            {
                return;
            }

            world.EndOthers();
            if (files || world.Chance.Percent(50))
            {
                world.Restart(now, _duration / 10);
            }

            var memory = new LogIdentityFile(SimulatedMachine.MemoryFile, "simulated", new DiskProcess(world, new ProcessScope(), static _ => { }));
            if (memory.Read() is { } remembered && (files ? world.Folder.Lose(remembered.Epoch) : world.Storage.Lose(remembered)))
            {
                Count();
                world.LogIsLost();
            }
        });
    }

    /// <summary>Within so many milliseconds, at the first moment at which nothing but checkpoints, trims or saved outcomes are the latest that the server has done.</summary>
    private void LoseChanges(int tries)
    {
        if (world.IsHealed || tries == 0)
        {
            return;
        }

        if (world.Storage.LoseChanges())
        {
            Count();
            world.StorageRules.ChangesLost();
            world.LogIsLost();
            return;
        }

        world.After(TimeSpan.TicksPerMillisecond, null, () => LoseChanges(tries - 1));
    }

    private void Count() => world.Faults.Note(fault.Kind);
}
