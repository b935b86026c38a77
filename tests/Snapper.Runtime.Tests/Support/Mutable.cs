using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

/// <summary>A state that methods change in place.</summary>
public sealed class MutableState
{
    public List<int> Items { get; set; } = [];
}

public sealed record Push(int Value, string? Gate = null, bool Fail = false, string? Other = null);

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
