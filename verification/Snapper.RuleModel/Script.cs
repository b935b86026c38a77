using System.Numerics;
using System.Text;

namespace Snapper.RuleModel;

/// <summary>One transaction: what it touches, in which order, and how it fails.</summary>
internal sealed class Script
{
    private readonly int[] _actors = new int[ModelSize.MaxOperations];
    private uint _writes;

    public bool IsAct { get; private set; }

    /// <summary>Operations; the first one's actor is the root.</summary>
    public int Operations { get; private set; }

    /// <summary>All operations are called at once; only those on one actor keep their order.</summary>
    public bool IsParallel { get; set; }

    /// <summary>A PACT whose root carries the mark of A1.</summary>
    public bool MayAbort { get; set; }

    /// <summary>User code aborts at its end (a PACT without mark throws, and reports the abort when it runs again with the mark).</summary>
    public bool Aborts { get; set; }

    /// <summary>The operation after which a PACT without mark throws at its first run, or -1.</summary>
    public int ThrowsAt { get; set; } = -1;

    /// <summary>Actors that a PACT declares (bits), those that it never calls included; for an ACT those that it touches.</summary>
    public int Declared { get; private set; }

    public int ActorOf(int operation) => _actors[operation];

    public bool Writes(int operation) => ((_writes >> operation) & 1) != 0;

    public void Draw(ref ModelRandom random, ModelSize size, bool isAct, int readsOfEight, bool fails)
    {
        IsAct = isAct;
        Operations = 1 + random.Next(size.Operations);
        IsParallel = random.OneIn(4);
        _writes = 0;
        Declared = 0;
        for (var i = 0; i < Operations; i++)
        {
            _actors[i] = random.Next(size.Actors);
            Declared |= 1 << _actors[i];
            _writes |= random.Next(8) < readsOfEight ? 0u : 1u << i;
        }

        MayAbort = !isAct && fails && random.OneIn(3);
        Aborts = fails && random.OneIn(4);
        ThrowsAt = !isAct && fails && !MayAbort && random.OneIn(2) ? random.Next(Operations) : -1;
        if (!isAct && random.OneIn(6))
        {
            Declared |= 1 << random.Next(size.Actors);
        }
    }

    /// <summary>Empties the script, to be filled by <see cref="Add"/>.</summary>
    public void Clear(bool isAct)
    {
        IsAct = isAct;
        Operations = 0;
        IsParallel = false;
        MayAbort = false;
        Aborts = false;
        ThrowsAt = -1;
        Declared = 0;
        _writes = 0;
    }

    public void Add(int actor, bool writes)
    {
        if (Operations == ModelSize.MaxOperations)
        {
            throw new ArgumentException($"A script has at most {ModelSize.MaxOperations} operations.");
        }

        _writes |= writes ? 1u << Operations : 0;
        _actors[Operations++] = actor;
        Declared |= 1 << actor;
    }

    public void Declare(int actor) => Declared |= 1 << actor;

    public void CopyFrom(Script other)
    {
        other._actors.CopyTo(_actors, 0);
        _writes = other._writes;
        IsAct = other.IsAct;
        Operations = other.Operations;
        IsParallel = other.IsParallel;
        MayAbort = other.MayAbort;
        Aborts = other.Aborts;
        ThrowsAt = other.ThrowsAt;
        Declared = other.Declared;
    }

    private int Called
    {
        get
        {
            var called = 0;
            for (var i = 0; i < Operations; i++)
            {
                called |= 1 << _actors[i];
            }

            return called;
        }
    }

    /// <summary>No actor is declared that is never called.</summary>
    public bool DeclaresExactly => Declared == Called;

    /// <summary>Declares what is called and nothing else.</summary>
    public void DeclareExactly() => Declared = Called;

    /// <summary>Drops one operation; at least one stays.</summary>
    public void Remove(int operation)
    {
        for (var i = operation; i < Operations - 1; i++)
        {
            _actors[i] = _actors[i + 1];
        }

        var low = (1u << operation) - 1;
        _writes = (_writes & low) | ((_writes >> 1) & ~low);
        Operations--;
        ThrowsAt = Math.Min(ThrowsAt, Operations - 1);
        DeclareExactly();
    }

    /// <summary>In words, as part of a report.</summary>
    public string Describe(int index)
    {
        var text = new StringBuilder();
        text.Append(IsAct ? "ACT " : "PACT ").Append(RuleModel.ClientName(index)).Append(':');
        for (var i = 0; i < Operations; i++)
        {
            text.Append(i == 0 ? " " : ", ").Append(Writes(i) ? "write " : "read ").Append(RuleModel.ActorName(_actors[i]));
        }

        text.Append(IsParallel ? "; calls in parallel" : "");
        text.Append(MayAbort ? "; [MayAbort]" : "");
        text.Append(Aborts ? "; aborts at its end" : "");
        text.Append(ThrowsAt >= 0 ? $"; throws after operation {ThrowsAt + 1} at its first run" : "");
        for (var declaredOnly = Declared & ~Called; declaredOnly != 0; declaredOnly &= declaredOnly - 1)
        {
            var actor = BitOperations.TrailingZeroCount(declaredOnly);
            text.Append("; declares ").Append(RuleModel.ActorName(actor)).Append(" without calling it");
        }

        return text.ToString();
    }
}
