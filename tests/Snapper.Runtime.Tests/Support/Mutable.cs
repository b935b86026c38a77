using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A state that methods change in place.</summary>
public sealed class MutableState
{
    private static int s_spoiledReads;
    private int _mark;

    public List<int> Items { get; set; } = [];

    /// <summary>A state that was spoiled can be read from JSON once: when the worker tries that.</summary>
    public int Mark
    {
        get => _mark;
        set => _mark = value >= 0 || Interlocked.Increment(ref s_spoiledReads) == 1
            ? value
            : throw new IOException("planned, in a setter");
    }

    public void Spoil() => _mark = -1;
}

public sealed record Push(
    int Value,
    string? Gate = null,
    bool Fail = false,
    string? Other = null,
    bool Spoil = false,
    string? GateBefore = null);

public interface IMutable : ITransactionalActor
{
    Task<int[]> Push(Push push);

    [MayAbort]
    Task<int[]> PushMarked(Push push);

    Task<int[]> Items();
}

[TransactionalActor("Mutable")]
public sealed class MutableActor : TransactionalActor<MutableState>, IMutable
{
    protected override MutableState InitialState() => new();

    [MayAbort]
    public Task<int[]> PushMarked(Push push) => Push(push);

    public async Task<int[]> Push(Push push)
    {
        var state = await State.ForUpdate();
        state.Items.Add(push.Value);
        (await State.ForUpdate()).Items.Add(-push.Value); // the same object the second time
        if (push.Spoil)
        {
            state.Spoil();
        }

        if (push.GateBefore is not null)
        {
            await Gate.Find(push.GateBefore).Pass();
        }

        if (push.Other is not null)
        {
            await Actor<IMutable>(push.Other).Push(new Push(push.Value));
        }

        if (push.Gate is not null)
        {
            await Gate.Find(push.Gate).Pass();
        }

        return push.Fail ? throw Abort("planned") : state.Items.ToArray();
    }

    public async Task<int[]> Items() => (await State.Get()).Items.ToArray();
}
