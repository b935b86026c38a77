using System.Runtime.InteropServices;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Storage.Log;
using Snapper.Storage.Memory;
using Snapper.Storage.Remembering;

namespace Snapper.Simulation.Storage;

/// <summary>The log server: what it keeps, how far away it is, and what goes wrong on the way to it.</summary>
internal sealed class SimulatedStorage(World world)
{
    private (Memory<byte> Bytes, int At, byte Value)? _damaged;
    private MemoryStorage? _copy;
    private MemoryStorage? _whole;
    private readonly SeededChance _chance = SeededChance.For(world.Scenario.Seed, ChanceOf.LogServer);
    private readonly SeededChance _misled = SeededChance.For(world.Scenario.Seed, ChanceOf.OlderServer, 1);
    private readonly SeededChance _places = SeededChance.For(world.Scenario.Seed, ChanceOf.DamagedPlace, 1);
    private (MemoryStorage Copy, int Server, long Until)? _older;

    /// <summary>What is durable.</summary>
    public MemoryStorage Kept { get; private set; } = new();

    /// <summary>Whose call was the last that took it over; null: nobody's yet.</summary>
    public ProcessScope? LastOpener { get; set; }

    /// <summary>Calls get lost until then (virtual ticks).</summary>
    public long DownUntil { get; set; }

    /// <summary>Writes are refused until then.</summary>
    public long FullUntil { get; set; }

    /// <summary>What there was is gone, or older than what the worker knows to have been durable.</summary>
    public bool IsLost => _whole is not null;

    /// <summary>Counts the servers that stood in the place of the log's; a call does not reach the next one.</summary>
    public int Server { get; private set; }

    /// <summary>It was lost at some time of the run: a writer may have noticed.</summary>
    public bool WasLost { get; private set; }

    /// <summary>What a server says to a writer that knows more than it does (as the scripts of the Redis log); null: it does not.</summary>
    /// <param name="epoch">The writer's.</param>
    /// <param name="acknowledged">Every record below it was acknowledged to the writer.</param>
    /// <param name="changes">So many checkpoints, trims and savings of outcomes were.</param>
    public AppendResult? Lost(long epoch, long acknowledged, long changes) =>
        IsOlder(Kept, epoch, acknowledged, changes)
            ? new AppendResult(AppendStatus.Gap, $"simulated: the log lost acknowledged records: it is at epoch {Kept.Epoch}, record {Kept.NextSequence} and change {Kept.Changes}")
            : null;

    /// <summary>A server lacks something that the caller knows to be durable.</summary>
    /// <param name="server">The server.</param>
    /// <param name="epoch">The caller's.</param>
    /// <param name="acknowledged">As for <see cref="Lost"/>.</param>
    /// <param name="changes">As for <see cref="Lost"/>.</param>
    public static bool IsOlder(MemoryStorage server, long epoch, long acknowledged, long changes) =>
        epoch > server.Epoch
        || (epoch == server.Epoch && (acknowledged > server.NextSequence || changes > server.Changes));

    /// <summary>
    /// For a while the address leads some calls to a server that stays as it is now: a replica that lags, or a primary
    /// that another one has replaced. It answers what only reads, and refuses every write.
    /// </summary>
    public void MisleadUntil(long until) => _older = (Kept.Copy(), Server, until);

    /// <summary>Where a call arrives; null: at the server that keeps everything.</summary>
    public MemoryStorage? Older()
    {
        if (_older is not var (copy, server, until) || server != Server || IsLost || HasDamage
            || world.IsHealed || world.Now >= until || !_misled.Percent(40))
        {
            return null;
        }

        world.Faults.Note(FaultKind.StorageOlder);
        return copy;
    }

    /// <summary>Keeps a copy that may come back.</summary>
    public void KeepCopy() => _copy = Kept.Copy();

    /// <summary>The server comes back as another one: empty, or with an older copy.</summary>
    /// <param name="remembered">What the worker remembers of it.</param>
    /// <returns>False: what would come back is not older than that; nothing has happened.</returns>
    public bool Lose(LogIdentity remembered)
    {
        var other = _chance.Percent(50) || _copy is null ? new MemoryStorage() : _copy.Copy();
        if (IsLost || (other.Id == remembered.Id && other.Epoch >= remembered.Epoch && other.NextSequence >= remembered.NextSequence))
        {
            return false;
        }

        Server++;
        _whole = Kept;
        Kept = other;
        WasLost = true;
        return true;
    }

    /// <summary>
    /// The server comes back without its latest checkpoints, trims and saved outcomes, and with everything that was ever logged: a crash or a failover within the second after a
    /// checkpoint. Until there is such a moment a copy is kept of what there is.
    /// </summary>
    /// <returns>False: not now; look again soon.</returns>
    public bool LoseChanges()
    {
        if (IsLost || _damaged is not null)
        {
            return false;
        }

        if (_copy is not { } older || older.Epoch != Kept.Epoch || older.NextSequence != Kept.NextSequence || older.Changes == Kept.Changes)
        {
            KeepCopy();
            return false;
        }

        Server++;
        Kept = older;
        _copy = null;
        WasLost = true;
        return true;
    }

    /// <summary>The right one is put back.</summary>
    public void Restore()
    {
        Server += IsLost ? 1 : 0;
        Kept = _whole ?? Kept;
        _whole = null;
    }

    /// <summary>A byte of the log was changed and not put back; the record may be gone.</summary>
    public bool HasDamage => _damaged is not null;

    /// <summary>A byte of the log is wrong, in a record that was not trimmed meanwhile.</summary>
    public bool IsDamaged => _damaged is var (bytes, _, _) && Array.Exists(Kept.GroupsFrom(0), group => group.Records.Equals(bytes));

    /// <summary>Since when no place of a state is damaged (virtual ticks); before the first one is: 0.</summary>
    public long PlacesGoodSince { get; private set; }

    /// <summary>Something else lies where the state of an actor was, for a while.</summary>
    /// <returns>False: there is no state.</returns>
    public bool DamagePlaceUntil(long until)
    {
        var actors = Kept.States.Keys.Order().ToList();
        if (actors.Count == 0 || Kept.DamagedPlaces.Count > 0)
        {
            return false;
        }

        var server = Kept;
        server.DamagedPlaces.Add(actors[_places.Next(actors.Count)]);
        PlacesGoodSince = until;
        world.After(until - world.Now, null, () =>
        {
            foreach (var one in (MemoryStorage?[])[server, Kept, _copy, _whole, _older?.Copy])
            {
                one?.DamagedPlaces.Clear();
            }
        });
        return true;
    }

    /// <summary>Changes a byte of a record.</summary>
    /// <returns>False: there is none.</returns>
    public bool Damage()
    {
        var groups = Kept.GroupsFrom(0);
        if (groups.Length == 0 || _damaged is not null)
        {
            return false;
        }

        var bytes = MemoryMarshal.AsMemory(groups[_chance.Next(groups.Length)].Records);
        var at = _chance.Next(bytes.Length);
        _damaged = (bytes, at, bytes.Span[at]);
        bytes.Span[at] ^= (byte)(1 << _chance.Next(8));
        return true;
    }

    /// <summary>Puts the byte back: somebody has found a good copy.</summary>
    public void Repair()
    {
        if (_damaged is var (bytes, at, value))
        {
            bytes.Span[at] = value;
            _damaged = null;
        }
    }

    /// <summary>One way, in ticks.</summary>
    public long Travel(bool slow) => slow
        ? _chance.Between(TimeSpan.TicksPerMillisecond * 20, TimeSpan.TicksPerMillisecond * 150)
        : _chance.Between(world.Scenario.StorageTicksMin, world.Scenario.StorageTicksMax);

    /// <summary>What goes wrong with a call; null: nothing.</summary>
    public FaultKind? Draw(bool canRefuse)
    {
        if (world.IsHealed)
        {
            return null;
        }

        if (world.Now < DownUntil)
        {
            return Count(FaultKind.StorageDown);
        }

        if (canRefuse && world.Now < FullUntil)
        {
            return Count(FaultKind.StorageFull);
        }

        if (!_chance.PerMille(world.Scenario.StorageFaultPerMille))
        {
            return null;
        }

        return _chance.Next(4) switch
        {
            0 => Count(FaultKind.StorageCallLost),
            1 => Count(FaultKind.StorageAnswerLost),
            2 => Count(FaultKind.StorageCallLate),
            _ => Count(FaultKind.StorageSlow),
        };
    }

    private FaultKind Count(FaultKind kind)
    {
        world.Faults.Note(kind);
        return kind;
    }
}
