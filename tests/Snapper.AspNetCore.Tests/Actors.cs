using Dapr.Actors;
using Dapr.Actors.Runtime;
using Snapper.Actors;

namespace Snapper.AspNetCore.Tests;

public interface ICounter : ITransactionalActor
{
    Task<int> Add(int amount);
}

public sealed record Count(int Value);

/// <summary>Asks for nothing.</summary>
[TransactionalActor("Counter")]
public sealed class Counter : TransactionalActor<Count>, ICounter
{
    protected override Count InitialState() => new(0);

    public async Task<int> Add(int amount)
    {
        var count = new Count((await State.ForUpdate()).Value + amount);
        State.Set(count);
        return count.Value;
    }
}

/// <summary>What one call of a method has, and others have not.</summary>
public sealed class Session(Sessions all) : IAsyncDisposable
{
    public int Number { get; } = all.Open();

    public ValueTask DisposeAsync()
    {
        all.Close(Number);
        return ValueTask.CompletedTask;
    }
}

/// <summary>All sessions of a process.</summary>
public sealed class Sessions
{
    private readonly List<int> _open = [];
    private int _last;

    public IReadOnlyList<int> StillOpen
    {
        get
        {
            lock (_open) return [.. _open];
        }
    }

    public int Open()
    {
        lock (_open)
        {
            _open.Add(++_last);
            return _last;
        }
    }

    public void Close(int number)
    {
        lock (_open) _open.Remove(number);
    }
}

public interface IVisitor : ITransactionalActor
{
    /// <summary>Visits another, too, unless it is empty; the numbers of the sessions of both.</summary>
    Task<int[]> Visit(string other);

    Task Fail();
}

/// <summary>Asks for a singleton and a scoped service.</summary>
[TransactionalActor("Visitor")]
public sealed class Visitor(Session session, Sessions sessions) : TransactionalActor<Count>, IVisitor
{
    protected override Count InitialState() => new(0);

    public async Task<int[]> Visit(string other)
    {
        State.Set(new Count((await State.ForUpdate()).Value + 1));
        var theirs = other.Length == 0 ? [] : await Actor<IVisitor>(other).Visit("");
        Assert.Contains(session.Number, sessions.StillOpen);
        return [session.Number, .. theirs];
    }

    public async Task Fail()
    {
        await State.ForUpdate();
        throw Abort($"session {session.Number}");
    }
}

public interface IMissing
{
}

public interface INeedy : ITransactionalActor
{
    Task Ask();
}

/// <summary>Asks for what the application may not have.</summary>
[TransactionalActor("Needy")]
public sealed class Needy(IMissing missing) : TransactionalActor<Count>, INeedy
{
    protected override Count InitialState() => new(missing.GetHashCode());

    public async Task Ask() => await State.Get();
}

public interface IThermostat : IActor
{
    Task<int> Heat(int degrees);
}

/// <summary>A plain actor of Dapr's SDK.</summary>
public sealed class Thermostat(ActorHost host) : Actor(host), IThermostat
{
    private int _degrees;

    public Task<int> Heat(int degrees) => Task.FromResult(_degrees += degrees);
}
