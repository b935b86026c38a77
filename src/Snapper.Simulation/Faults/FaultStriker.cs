using Snapper.Simulation.Running;
using Snapper.Simulation.Workers;

namespace Snapper.Simulation.Faults;

/// <summary>Makes one planned fault happen. One that finds nothing to strike does not count.</summary>
internal sealed class FaultStriker(World world, PlannedFault fault)
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
                if (world.Storage.Damage())
                {
                    Count();
                }

                break;
            case FaultKind.StorageFull:
                world.Storage.FullUntil = world.Now + _duration;
                break;
            case FaultKind.StorageDown:
                world.Storage.DownUntil = world.Now + _duration;
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
        worker.Scope.IsPaused = true;
        world.After(duration, null, () =>
        {
            worker.Scope.IsPaused = false;
            while (!worker.Scope.IsPaused && !worker.Scope.IsDead && worker.Scope.Missed.TryDequeue(out var missed))
            {
                missed();
            }
        });
    }

    /// <summary>The supervisor takes a worker for dead that is not: it goes on, perhaps after a sleep, until the fence stops it.</summary>
    private void TwoOwners(SimulatedWorker owner)
    {
        if (!owner.IsOpen)
        {
            return;
        }

        Count();
        if (world.Chance.Percent(60))
        {
            Pause(owner, world.Chance.Between(0, _duration));
        }

        world.StartWorker();
    }

    private void Stop(SimulatedWorker owner)
    {
        if (!owner.IsOpen || owner.Scope.IsPaused)
        {
            return;
        }

        Count();
        owner.Stop().ContinueWith(
            _ => world.After(0, null, () => world.Restart(owner, _duration / 10)),
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
    }

    private void Count() => world.Faults.Note(fault.Kind);
}
