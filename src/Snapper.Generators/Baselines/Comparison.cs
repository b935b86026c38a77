namespace Snapper.Generators.Baselines;

/// <summary>What a difference means for those who rely on the baseline.</summary>
internal enum DifferenceKind
{
    /// <summary>Callers of before do not get on with it.</summary>
    Breaking,

    /// <summary>It is new, and callers and states of before get on with it.</summary>
    New,

    /// <summary>A state that is stored is not read as before, and its version says nothing of it.</summary>
    State,
}

/// <summary>One difference between a baseline and the code.</summary>
/// <param name="Kind">What it means.</param>
/// <param name="Actor">The actor type.</param>
/// <param name="Method">The method; null: it is about the type or its state.</param>
/// <param name="Text">What it is.</param>
internal sealed record Difference(DifferenceKind Kind, string Actor, string? Method, string Text);

/// <summary>Compares a baseline with the code.</summary>
internal sealed class Comparison
{
    private readonly Baseline _old;
    private readonly Baseline _now;
    private readonly List<Difference> _found = new();

    private Comparison(Baseline old, Baseline now)
    {
        _old = old;
        _now = now;
    }

    /// <summary>What differs. Empty: nothing that counts; names of C# types may have changed.</summary>
    public static IReadOnlyList<Difference> Between(Baseline old, Baseline now)
    {
        var comparison = new Comparison(old, now);
        foreach (var was in old.Actors.Values)
        {
            if (now.Actors.TryGetValue(was.Type, out var found))
            {
                comparison.Actors(was, found);
            }
            else
            {
                comparison.Add(DifferenceKind.Breaking, was.Type, null, "there is no such actor type any more");
            }
        }

        foreach (var added in now.Actors.Values.Where(one => !old.Actors.ContainsKey(one.Type)))
        {
            comparison.Add(DifferenceKind.New, added.Type, null, "the actor type is new");
        }

        return comparison._found;
    }

    private void Add(DifferenceKind kind, string actor, string? method, string text) =>
        _found.Add(new Difference(kind, actor, method, text));

    private void Actors(ActorContract was, ActorContract now)
    {
        Sets(was.Type, was.Contracts, now.Contracts, "interface");
        Sets(was.Type, was.Aborts, now.Aborts, "abort code");
        if (was.Partition != now.Partition)
        {
            Add(DifferenceKind.Breaking, was.Type, null,
                $"the partition key ended at {Show(was.Partition?.ToString())} and ends at "
                + $"{Show(now.Partition?.ToString())}, where workers keep it for good");
        }

        foreach (var method in was.Methods.Values)
        {
            if (now.Methods.TryGetValue(method.Name, out var found))
            {
                Methods(was.Type, method, found);
            }
            else
            {
                Add(DifferenceKind.Breaking, was.Type, null, $"it has no method '{method.Name}' any more");
            }
        }

        foreach (var method in now.Methods.Values.Where(one => !was.Methods.ContainsKey(one.Name)))
        {
            Add(DifferenceKind.New, was.Type, method.Name, "the method is new");
        }

        States(was, now);
    }

    private void Sets(string actor, SortedSet<string> was, SortedSet<string> now, string word)
    {
        foreach (var gone in was.Where(one => !now.Contains(one)))
        {
            Add(DifferenceKind.Breaking, actor, null, $"it has no {word} '{gone}' any more");
        }

        foreach (var added in now.Where(one => !was.Contains(one)))
        {
            Add(DifferenceKind.New, actor, null, $"the {word} '{added}' is new");
        }
    }

    private void Methods(string actor, MethodContract was, MethodContract now)
    {
        Types(actor, was.Name, "input", was.Input, now.Input, Direction.In);
        Types(actor, was.Name, "result", was.Result, now.Result, Direction.Out);
        Mark(actor, was.Name, was.ReadOnly, now.ReadOnly, "[ReadOnlyMethod]");
        Mark(actor, was.Name, was.Declares, now.Declares, "a [Declares] function");
    }

    private void Mark(string actor, string method, bool was, bool now, string mark)
    {
        if (was != now)
        {
            Add(now ? DifferenceKind.New : DifferenceKind.Breaking, actor, method,
                now ? $"it has {mark} now" : $"it has {mark} no more");
        }
    }

    private void Types(string actor, string method, string path, string? was, string? now, Direction direction)
    {
        if (was is null || now is null)
        {
            if (was != now)
            {
                Add(DifferenceKind.Breaking, actor, method, $"the {path} was {Show(was)} and is {Show(now)}");
            }

            return;
        }

        var shapes = new ShapeComparison(_old, _now, direction);
        shapes.Compare(path, was, now);
        foreach (var text in shapes.Breaks)
        {
            Add(DifferenceKind.Breaking, actor, method, text);
        }

        foreach (var text in shapes.Additions)
        {
            Add(DifferenceKind.New, actor, method, text);
        }
    }

    private void States(ActorContract actor, ActorContract now)
    {
        if (actor.State is not { } was || now.State is not { } found)
        {
            if (actor.State != now.State)
            {
                Add(DifferenceKind.State, actor.Type, null, "the actor had another base class");
            }

            return;
        }

        if (found.Version != was.Version)
        {
            Add(found.Version > was.Version ? DifferenceKind.New : DifferenceKind.State, actor.Type, null,
                $"the state's version was {Baseline.Number(was.Version)} and is {Baseline.Number(found.Version)}");
            return;
        }

        if (found.Oldest != was.Oldest)
        {
            Add(DifferenceKind.New, actor.Type, null,
                $"the oldest version of the state was {Baseline.Number(was.Oldest)} "
                + $"and is {Baseline.Number(found.Oldest)}");
        }

        var shapes = new ShapeComparison(_old, _now, Direction.Stored);
        shapes.Compare("state", was.Type, found.Type);
        foreach (var text in shapes.Breaks)
        {
            Add(DifferenceKind.State, actor.Type, null, text);
        }

        foreach (var text in shapes.Additions)
        {
            Add(DifferenceKind.New, actor.Type, null, text);
        }
    }

    private static string Show(string? type) => type is null ? "none" : $"'{type}'";
}
